"""Reads JaCoCo's XML report: which lines of which source file were executed."""
import xml.etree.ElementTree


class Lines:
    def __init__(self, path):
        self.files = {}
        parser = xml.etree.ElementTree.iterparse(path, events=("start", "end"))
        package = source = ""
        for event, node in parser:
            if event == "start":
                if node.tag == "package":
                    package = node.get("name")
                elif node.tag == "sourcefile":
                    source = (package + "/" + node.get("name")).replace("org/apache/cassandra/", "")
                    self.files[source] = {}
                elif node.tag == "line":
                    self.files[source][int(node.get("nr"))] = int(node.get("ci")) > 0
            else:
                node.clear()

    def known(self, source, first, last=None):
        """Whether any of these lines has code."""
        lines = self.files.get(source, {})
        return any(n in lines for n in range(first, (last or first) + 1))

    def executed(self, source, first, last=None):
        """Whether any of these lines was executed."""
        lines = self.files.get(source, {})
        return any(lines.get(n, False) for n in range(first, (last or first) + 1))
