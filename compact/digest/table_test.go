package digest

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// TestValuesKeepTheirNames says how results in JSON are told: each value has its name, or
// its place below a heading that the reader sees.
func TestValuesKeepTheirNames(t *testing.T) {
	call := func(id int, arguments, result string) []compact.Message {
		return exchange(id, "get_order", arguments, result)
	}
	order := func(id, city, items string) string {
		return `{"id":"` + id + `","shop":"north","city":"` + city + `","ordered_at":"2026-05-01T08:46:43","express":false,"items":` + items + `,"paid_with":{"kind":"card","id":"card_41967"}}`
	}
	f := func(name string, size int, list []compact.Message, texts ...string) {
		t.Helper()
		tells(t, name, recordOf(size, list), texts...)
	}
	f("an object alone", 700,
		call(1, `{"id":"A1"}`, order("A1", "Ulm", `[{"sku":"S7","n":2}]`)),
		"id: A1, shop: north, city: Ulm, ordered_at: 2026-05-01T08:46:43, express: false, items: [sku S7, n 2]\n paid_with: kind card, id card_41967\n")
	f("null in the place of an object", 700,
		call(1, `{}`, `[{"n":1,"by":{"login":"ana","id":7},"title":"Say what, and why"},{"n":2,"by":null,"title":"Port"}]`),
		"(n, by, title)\n 1, [login ana, id 7], \"Say what, and why\"\n 2, null, Port\n")
	f("pages", 700,
		conversation(
			call(1, `{"page":1}`, `{"next":2,"orders":[{"id":"A1","city":"Ulm"},{"id":"A2","city":"Jena"},{"id":"A3","city":"Suhl"}]}`),
			call(2, `{"page":2}`, `{"next":0,"orders":[{"id":"B1","city":"Bonn"},{"id":"B2","city":"Celle"},{"id":"B3","city":"Lahr"}]}`),
		),
		" next: 2\n orders: (id, city)\n A1, Ulm\n", " next: 0\n orders: (id, city)\n B1, Bonn\n")
	f("two tables of one tool", 700,
		conversation(
			call(1, `{"n":1}`, `[{"id":"A1","city":"Ulm"},{"id":"A2","city":"Jena"},{"id":"A3","city":"Suhl"}]`),
			call(2, `{"n":2}`, `[{"sku":"S1","price":70},{"sku":"S2","price":81}]`),
			call(3, `{"n":3}`, `[{"id":"B1","city":"Bonn"},{"id":"B2","city":"Celle"},{"id":"B3","city":"Lahr"}]`),
		),
		"n: 3 →\n (id, city)\n B1, Bonn\n")
	f("a table with a line below its heading", 130,
		call(1, `{}`, "It waits, and waits.\n\n| Stage | Days |\n|---|---|\n| A | 1.0 |\n"+strings.Repeat("| it waits and waits | 4 |\n", 30)+"| D1-88412, of KB-117A | 8 |\n"),
		" | Stage | Days |\n", " | D1-88412, of KB-117A | 8 |\n")
	f("a table with a title in the middle", 120,
		call(1, `{}`, "It waits, and waits.\n\n          M4, after\n=====================\nNo.: 9   RMSE: 4\n---------------\n     coef   err\nA    1.0    2\n"+strings.Repeat("it waits   4    5\n", 30)+"D1-88412_KB-117A   8    9\n"),
		" M4, after\n", "coef   err\n", " D1-88412_KB-117A   8    9\n")
	f("a question that the answer repeats", 70,
		conversation(say(assistant("Of course! I can help you with that. Could you please tell me the number of your order?")), say(user("It is order A1 of the shop in the north, and I want it to be sent to Ulm."))),
		"user: It is order A1",
		no("Of course"))
}

// TestALaterPartHasItsHeading says that rows of a later part have the names of their values
// there.
func TestALaterPartHasItsHeading(t *testing.T) {
	rows := func(id int, state string) []compact.Message {
		return exchange(id, "find_flight", `{"day":`+strconv.Itoa(id)+`}`, `[{"flight":"HAT10`+strconv.Itoa(id)+`","at":"14:00:00","state":"`+state+`"},{"flight":"HAT20`+strconv.Itoa(id)+`","at":"16:00:00","state":"`+state+`"}]`)
	}
	r, msgs := NewRecord(compacttest.Bytes{}), conversation(rows(1, "open"), rows(2, "shut"))
	for k, want := range []string{"(flight, at, state)\n HAT101, 14:00:00, open\n", "(flight, at, state)\n HAT102, 14:00:00, shut\n"} {
		tells(t, "part "+strconv.Itoa(k+1), r.Add(msgs[2*k:2*k+2], nil, 500, false), want)
	}
}

// TestRowsAreTrue reads rows of a record back: each value stands below its name, whatever
// the names and the values have in them.
func TestRowsAreTrue(t *testing.T) {
	fields := func(line string) (list []string) {
		for line = strings.TrimSpace(line) + ", "; line != ""; {
			field, mark := "", ", "
			if rest, ok := strings.CutPrefix(line, `"`); ok {
				line, mark = rest, `", `
			}
			field, line, _ = strings.Cut(line, mark)
			list = append(list, field)
		}
		return list
	}
	strange := []string{"", "a", "Ng, Bo", "x; y", "[z]", "null", "1,5 kg", "ends,", "two words", `"q"`, "a: b", "山田、太郎", "| c", "12: d", "(e)", "→ f", "| g | h"}
	keys := []string{"id", "Name, Vorname", "größe", "価格", "a.b", "same"}
	object := func(seed, n int) (members string) {
		for k, key := range keys {
			value := strange[(seed+n*5+k)%len(strange)]
			if key == "same" {
				value = strange[seed]
			}
			members += "," + quotedJSON(key) + ":" + quotedJSON(value)
		}
		return "{" + members[1:] + "}"
	}
	for seed := range strange {
		record := recordOf(3000,
			exchange(1, "list_things", `{"n":1}`, "["+object(seed, 0)+","+object(seed, 1)+"]"),
			exchange(2, "list_others", `{"n":2}`, `[{"a":1,"b":2},{"a":3,"b":4}]`),
			exchange(3, "list_things", `{"n":3}`, "["+object(seed, 2)+","+object(seed, 3)+"]"))
		lines := strings.Split(record, "\n")
		at := slices.Index(lines, "list_things n: 1 →")
		names := fields(strings.TrimSuffix(strings.TrimPrefix(lines[at+1], " ("), ")"))
		for n, line := range []string{lines[at+2], lines[at+3], lines[slices.Index(lines, "list_things n: 3 →")+2]} {
			var row map[string]string
			if err := json.Unmarshal([]byte(object(seed, n)), &row); err != nil {
				t.Fatal(err)
			}
			for k, got := range fields(line) {
				if want := row[names[k]]; got != want {
					t.Errorf("row %d, %s: %q, want %q in\n%s", n, keys[k], got, want, record)
				}
			}
		}
	}
}

// TestShapesOfJSON says how results of other shapes are told.
func TestShapesOfJSON(t *testing.T) {
	f := func(name, result string, texts ...string) {
		t.Helper()
		tells(t, name, recordOf(1500, exchange(1, "get_things", `{}`, result)), texts...)
	}
	f("links", `{"number":7,"node_id":"PR_kw","url":"https://api.example/7","html_url":"https://example/7","title":"Fix it","user":{"login":"bo","node_id":"U_x","avatar_url":"https://example/u/1"}}`, "→ number: 7, title: Fix it, user: login bo\n")
	f("links that are values", `{"name":"db","database_url":"pg://a/b","url":"https://x"}`, "→ name: db, database_url: pg://a/b, url: https://x\n")
	f("empty values", `[{"id":"k","text":""},{"id":"k","text":"abc"},{"id":"k","text":""}]`, "(id, text)\n k, \"\"\n k, abc\n")
	f("keys that differ", `[{"id":1,"name":"a"},{"id":2,"name":"b","sale":true},{"name":"c","id":3}]`, "id: 2, name: b, sale: true\n name: c, id: 3\n", no("(id, name"))
	f("objects in objects of a list", `[{"by":[{"n":1,"at":{"x":"y, z","w":2}}],"ok":true},{"by":[],"ok":false}]`, "(by, ok)\n [[n 1, at [x \"y, z\", w 2]]], true\n [], false\n")
	f("a value that is the name of its list", `{"a":"`+strings.Repeat("words ", 30)+`","tags":["tags","b"]}`, "tags: tags, b\n")
	f("what follows rows", `[{"type":"text","text":"[{\"id\":1,\"name\":\"Ana\"},{\"id\":2,\"name\":\"Bo\"}]"},{"type":"text","text":"Total, 2"}]`, " 1, Ana\n 2, Bo\n …\n Total, 2\n")
	f("a value beside rows", `{"lines":[{"sku":"S1","n":2},{"sku":"S2","n":1}],"total":"12.50 EUR"}`, " total: 12.50 EUR\n lines: (sku, n)\n S1, 2\n S2, 1\n", no("…"))
	f("times of a day", `[{"t":"08:00","x":"a"},{"t":"09:00","x":"b"},{"t":"10:00","x":"c"},{"t":"11:00","x":"d"}]`, "(t, x)\n 08:00, a\n")
	f("an element of a harness in a row", `[{"id":5,"name":"<system-reminder>x</system-reminder>Cy"},{"id":6,"name":"Di"}]`, "(id, name)\n 5, Cy\n 6, Di\n", no("reminder"))
	f("nodes of edges", `{"data":{"orders":{"edges":[{"node":{"id":"g1","total":{"sum":"5.00","in":"EUR"},"to":{"name":"A"}},"cursor":"`+strings.Repeat("x1", 30)+`"},{"node":{"id":"g2","total":{"sum":"7.00","in":"EUR"},"to":null},"cursor":"x2"}],"more":true}}}`, "data.orders.edges: (node, cursor)\n [id g1, total [sum 5.00, in EUR], to [name A]], x1x1")
}
