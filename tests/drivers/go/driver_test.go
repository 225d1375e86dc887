// The Go driver (gocql) against a node: protocol versions 3, 4 and 5.
//
// The node's address comes from BASALT_HOST and BASALT_PORT, and BASALT_RESTART is the command that
// restarts it. Run against Apache Cassandra, everything but the restart passes as well.
package drivers

import (
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/apache/cassandra-gocql-driver/v2/lz4"
	"github.com/apache/cassandra-gocql-driver/v2/snappy"
	"gopkg.in/inf.v0"
)

func cluster(version int) *gocql.ClusterConfig {
	config := gocql.NewCluster(os.Getenv("BASALT_HOST"))
	config.Port, _ = strconv.Atoi(os.Getenv("BASALT_PORT"))
	config.ProtoVersion = version
	config.Consistency = gocql.One
	config.Timeout = 30 * time.Second
	config.ConnectTimeout = 30 * time.Second
	config.DisableInitialHostLookup = true
	config.ReconnectInterval = time.Second
	return config
}

// session opens a session on a fresh keyspace.
func session(t *testing.T, config *gocql.ClusterConfig, keyspace string) *gocql.Session {
	t.Helper()
	admin, err := config.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	run(t, admin, "DROP KEYSPACE IF EXISTS "+keyspace)
	run(t, admin, "CREATE KEYSPACE "+keyspace+
		" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	admin.Close()
	config.Keyspace = keyspace
	session, err := config.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Query("DROP KEYSPACE " + keyspace).Exec(); err != nil {
			t.Error(err)
		}
		session.Close()
	})
	return session
}

func run(t *testing.T, session *gocql.Session, text string, values ...interface{}) {
	t.Helper()
	if err := session.Query(text, values...).Exec(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func eachVersion(t *testing.T, test func(t *testing.T, session *gocql.Session, version int)) {
	for _, version := range []int{3, 4, 5} {
		t.Run(fmt.Sprintf("v%d", version), func(t *testing.T) {
			name := strings.ToLower(strings.Split(t.Name(), "/")[0])
			test(t, session(t, cluster(version), fmt.Sprintf("drv_go_%s_v%d", name, version)), version)
		})
	}
}

func TestTypes(t *testing.T) {
	timeuuid, _ := gocql.ParseUUID("137157a0-c395-11f0-8000-000000000000")
	varint, _ := new(big.Int).SetString("1606938044258990275541962092341162602522202993782792835301377", 10)
	columns := []struct {
		cql   string
		value interface{}
	}{
		{"ascii", "plain"},
		{"bigint", int64(-1 << 63)},
		{"blob", []byte{0, 1, 255}},
		{"boolean", true},
		{"date", time.Date(2017, 3, 11, 0, 0, 0, 0, time.UTC)},
		{"decimal", inf.NewDec(-12345, 3)},
		{"double", 0.1},
		{"duration", gocql.Duration{Months: 14, Days: 3, Nanoseconds: 5}},
		{"float", float32(1.5)},
		{"inet", net.ParseIP("2001:db8::1")},
		{"int", 1<<31 - 1},
		{"smallint", int16(-32768)},
		{"text", "é漢😀"},
		{"time", 8 * time.Hour},
		{"timestamp", time.Date(2011, 2, 3, 4, 5, 6, 789000000, time.UTC)},
		{"timeuuid", timeuuid},
		{"tinyint", int8(-128)},
		{"uuid", timeuuid},
		{"varint", varint},
		{"list<int>", []int{3, 1, 3}},
		{"set<text>", []string{"a", "b"}},
		{"map<text, int>", map[string]int{"a": 1, "b": 2}},
		{"frozen<map<int, frozen<list<int>>>>", map[int][]int{1: {1, 2}}},
	}
	eachVersion(t, func(t *testing.T, session *gocql.Session, version int) {
		names, definitions := []string{}, []string{}
		values := []interface{}{1}
		for index, column := range columns {
			name := fmt.Sprintf("c%d", index)
			names = append(names, name)
			definitions = append(definitions, name+" "+column.cql)
			values = append(values, column.value)
		}
		list := strings.Join(names, ", ")
		run(t, session, "CREATE TABLE all_types (k int PRIMARY KEY, "+strings.Join(definitions, ", ")+")")
		run(t, session, "INSERT INTO all_types (k, "+list+") VALUES (?"+strings.Repeat(", ?", len(names))+")", values...)
		targets := make([]interface{}, len(columns))
		for index, column := range columns {
			targets[index] = reflect.New(reflect.TypeOf(column.value)).Interface()
		}
		if err := session.Query("SELECT "+list+" FROM all_types WHERE k = ?", 1).Scan(targets...); err != nil {
			t.Fatal(err)
		}
		for index, column := range columns {
			read := reflect.ValueOf(targets[index]).Elem().Interface()
			if fmt.Sprint(read) != fmt.Sprint(column.value) {
				t.Errorf("%s: wrote %v, read %v", column.cql, column.value, read)
			}
		}
	})
}

func TestUdtTupleVector(t *testing.T) {
	eachVersion(t, func(t *testing.T, session *gocql.Session, version int) {
		run(t, session, "CREATE TYPE address (street text, zip int)")
		run(t, session, "CREATE TABLE people (k int PRIMARY KEY, home address, pair tuple<int, text>, v vector<float, 3>)")
		type address struct {
			Street string `cql:"street"`
			Zip    int    `cql:"zip"`
		}
		run(t, session, "INSERT INTO people (k, home, pair, v) VALUES (?, ?, (?, ?), ?)",
			1, address{"Main", 7}, 5, "x", []float32{1, 2.5, -3})
		var home address
		var number int
		var text string
		var vector []float32
		if err := session.Query("SELECT home, pair, v FROM people WHERE k = 1").Scan(&home, &number, &text, &vector); err != nil {
			t.Fatal(err)
		}
		if home != (address{"Main", 7}) || number != 5 || text != "x" || !reflect.DeepEqual(vector, []float32{1, 2.5, -3}) {
			t.Errorf("read %v %v %v %v", home, number, text, vector)
		}
	})
}

func TestBatchAndPaging(t *testing.T) {
	eachVersion(t, func(t *testing.T, session *gocql.Session, version int) {
		run(t, session, "CREATE TABLE pages (k int, c int, PRIMARY KEY (k, c)) WITH CLUSTERING ORDER BY (c DESC)")
		for k := 0; k < 5; k++ {
			batch := session.Batch(gocql.UnloggedBatch)
			for c := 0; c < 50; c++ {
				batch.Query("INSERT INTO pages (k, c) VALUES (?, ?)", k, c)
			}
			if err := batch.Exec(); err != nil {
				t.Fatal(err)
			}
		}
		for _, size := range []int{1, 7, 249, 250, 1000} {
			seen := map[[2]int]bool{}
			rows := 0
			iterator := session.Query("SELECT k, c FROM pages").PageSize(size).Iter()
			var k, c int
			for iterator.Scan(&k, &c) {
				seen[[2]int{k, c}] = true
				rows++
			}
			if err := iterator.Close(); err != nil {
				t.Fatal(err)
			}
			if rows != 250 || len(seen) != 250 {
				t.Errorf("pages of %d: %d rows, %d distinct", size, rows, len(seen))
			}
		}
	})
}

func TestLightweightTransactions(t *testing.T) {
	eachVersion(t, func(t *testing.T, session *gocql.Session, version int) {
		run(t, session, "CREATE TABLE lwt (k int PRIMARY KEY, v int)")
		for attempt, expected := range []bool{true, false} {
			previous := map[string]interface{}{}
			applied, err := session.Query("INSERT INTO lwt (k, v) VALUES (1, ?) IF NOT EXISTS", attempt).MapScanCAS(previous)
			if err != nil || applied != expected {
				t.Fatalf("attempt %d: applied %v, %v", attempt, applied, err)
			}
		}
	})
}

func TestErrors(t *testing.T) {
	eachVersion(t, func(t *testing.T, session *gocql.Session, version int) {
		var failure gocql.RequestError
		err := session.Query("SELECT * FROM no_such_table").Exec()
		if !errors.As(err, &failure) || failure.Code() != gocql.ErrCodeInvalid {
			t.Errorf("%v is not Invalid", err)
		}
		err = session.Query("SELEC 1").Exec()
		if !errors.As(err, &failure) || failure.Code() != gocql.ErrCodeSyntax {
			t.Errorf("%v is not a syntax error", err)
		}
	})
}

func TestCompression(t *testing.T) {
	compressors := map[int]gocql.Compressor{3: &snappy.SnappyCompressor{}, 4: lz4.LZ4Compressor{}, 5: lz4.LZ4Compressor{}}
	for version, compressor := range compressors {
		config := cluster(version)
		config.Compressor = compressor
		session := session(t, config, fmt.Sprintf("drv_go_compression_v%d", version))
		run(t, session, "CREATE TABLE t (k int PRIMARY KEY, v text)")
		text, read := strings.Repeat("compressible ", 5000), ""
		run(t, session, "INSERT INTO t (k, v) VALUES (1, ?)", text)
		if err := session.Query("SELECT v FROM t WHERE k = 1").Scan(&read); err != nil || read != text {
			t.Errorf("v%d: %d bytes, %v", version, len(read), err)
		}
	}
}

func TestSchemaMetadata(t *testing.T) {
	eachVersion(t, func(t *testing.T, session *gocql.Session, version int) {
		run(t, session, "CREATE TABLE described (k int, c text, v map<text, int>, PRIMARY KEY (k, c)) WITH CLUSTERING ORDER BY (c DESC)")
		keyspace := strings.ToLower(fmt.Sprintf("drv_go_testschemametadata_v%d", version))
		// The driver caches a keyspace until the node's schema event reaches it.
		var table *gocql.TableMetadata
		for attempt := 0; attempt < 100 && table == nil; attempt++ {
			metadata, err := session.KeyspaceMetadata(keyspace)
			if err != nil {
				t.Fatal(err)
			}
			if table = metadata.Tables["described"]; table == nil {
				time.Sleep(100 * time.Millisecond)
			}
		}
		if table == nil || len(table.Columns) != 3 || table.ClusteringColumns[0].Name != "c" {
			t.Errorf("read %+v", table)
		}
	})
}

func TestPreparedAgainAfterRestart(t *testing.T) {
	command := os.Getenv("BASALT_RESTART")
	if command == "" {
		t.Skip("no command to restart the node")
	}
	session := session(t, cluster(4), "drv_go_restart")
	run(t, session, "CREATE TABLE restarted (k int PRIMARY KEY, v text)")
	const insert = "INSERT INTO restarted (k, v) VALUES (?, ?)"
	run(t, session, insert, 1, "before")
	if output, err := exec.Command(strings.Fields(command)[0], strings.Fields(command)[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	var err error
	for attempt := 0; attempt < 120; attempt++ {
		if err = session.Query(insert, 2, "after").Exec(); err == nil {
			break
		}
		time.Sleep(250 * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	var count int
	if err := session.Query("SELECT count(*) FROM restarted").Scan(&count); err != nil || count != 2 {
		t.Errorf("%d rows, %v", count, err)
	}
}
