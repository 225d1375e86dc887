import java.io.File;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;

/** Reads a log with HdrHistogram's own reader and prints, by tag, how many values there are and the percentiles asked for. */
class Percentiles {
    public static void main(String[] arguments) throws Exception {
        Map<String, Histogram> sums = new TreeMap<>();
        try (HistogramLogReader reader = new HistogramLogReader(new File(arguments[0]))) {
            while (reader.hasNext()) {
                Histogram interval = (Histogram) reader.nextIntervalHistogram();
                // The reader's word for a line that it does not understand.
                if (interval == null) throw new Exception("a line is no histogram");
                sums.computeIfAbsent(series(interval.getTag()), tag -> new Histogram(3)).add(interval);
            }
        }
        for (Map.Entry<String, Histogram> entry : sums.entrySet()) {
            StringBuilder line = new StringBuilder(entry.getKey()).append(' ').append(entry.getValue().getTotalCount());
            for (int at = 1; at < arguments.length; at++)
                line.append(' ').append(entry.getValue().getValueAtPercentile(Double.parseDouble(arguments[at])));
            System.out.println(line);
        }
    }

    /** All kinds of operations together: what stands behind the first dash. */
    private static String series(String tag) {
        return tag.startsWith("hiccup") ? tag : tag.substring(tag.indexOf('-') + 1);
    }
}
