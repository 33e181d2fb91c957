package digest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
)

func TestSentences(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		var got []string
		for from, to := range sentences(text) {
			got = append(got, strings.TrimSpace(text[from:to]))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q has the sentences %q, want %q", text, got, want)
		}
	}
	f("")
	f("Go on. It works!", "Go on.", "It works!")
	f("Write to Dr. Okafor-Lind, e.g. today. Thanks", "Write to Dr. Okafor-Lind, e.g. today.", "Thanks")
	f("1. One way\n2. No bags", "1. One way", "2. No bags")
	f("Open src/a.go (line 3.5). Then stop.", "Open src/a.go (line 3.5).", "Then stop.")
	f("A line of some length that was wrapped by\nan editor goes on. Next\n\nlast", "A line of some length that was wrapped by\nan editor goes on.", "Next", "last")
	f("Run this:\n```\nrm -r x. now\n```\n<tag>\n{\"a\": 1}\nThen tell me.", "Run this:", "Then tell me.")
}

// TestSentencesThatBindComeFirst, then those that say how things are, and at last
// questions and what is only polite.
func TestSentencesThatBindComeFirst(t *testing.T) {
	weight := func(text string) float64 {
		s := &source{text: text}
		r := NewRecord(nil)
		r.find(s)
		r.readUser(s)
		if len(s.said) == 0 {
			return 0
		}
		return s.said[0].weight
	}
	for _, text := range []string{
		"Never touch the folder legal.", "Please don't call them twice.", "Use it only after dark.", "I do not want a window seat.",
		"You must ask first.", "All of it has to be signed before you send it, which is required by law.",
	} {
		if w := weight(text); w < binds {
			t.Errorf("%q weighs %g: it binds", text, w)
		}
	}
	order := []string{
		"Reports go to the board without any names in them.", "The server of the office is called heron.", "I looked at the server of the office.",
		"Could you look at the server of the office?", "Thank you!",
	}
	for i, text := range order {
		w := weight(text)
		if w >= binds || i > 0 && w >= weight(order[i-1]) {
			t.Errorf("%q weighs %g", text, w)
		}
	}
	for _, text := range []string{"I don't remember the name of it.", "The tests don't pass on my machine yet."} {
		if weight(text) >= binds {
			t.Errorf("%q binds nobody", text)
		}
	}
	if weight("報告は毎週金曜日にドイツ語で送ること。") == 0 {
		t.Error("a sentence without blanks weighs nothing")
	}
}

// TestUsersAreHeardInSmallParts: a part of fifty tokens has what a user wants from
// now on.
func TestUsersAreHeardInSmallParts(t *testing.T) {
	for _, wish := range []string{"Never send the draft to anybody outside.", "Invoices are made out in crowns."} {
		lost := []compact.Message{user("Yes, that sounds good to me. " + wish + " Can you do that now?")}
		lost = append(lost, exchange(1, "send_letter", `{"to":"mia_li_3668"}`, strings.Repeat(`{"letter_id": "L_2291", "state": "sent"}`, 9))...)
		for i := range lost {
			lost[i].Origin = i
		}
		r := NewRecord(compacttest.Bytes{})
		r.Add([]compact.Message{user("Good morning to you all.")}, nil, 60, false)
		if text := r.Add(lost, nil, 50, false); !strings.Contains(text, wish) {
			t.Errorf("%q is missing:\n%s", wish, text)
		}
	}
}

// TestARuleOfAUserIsNeverForgotten, however much is said after it.
func TestARuleOfAUserIsNeverForgotten(t *testing.T) {
	r := NewRecord(compacttest.Bytes{})
	for i := range 300 {
		lost := []compact.Message{user(fmt.Sprintf("Look at house %d, it is the one on the left.", i))}
		if i == 3 {
			lost[0] = user("Never open the door of house 3.")
		}
		for k := range 5 {
			lost = append(lost, exchange(i, "look", fmt.Sprintf(`{"house":"house_%d_%d"}`, i, k), "nothing there")...)
		}
		for k := range lost {
			lost[k].Origin = 100*i + k
		}
		text := r.Add(lost, nil, 200, i%10 == 0)
		if i > 3 && i%10 == 0 && !strings.Contains(text, "Never open the door of house 3.") {
			t.Fatalf("at %d the rule is gone:\n%s", i, text)
		}
	}
}

// TestEveryChangedFileIsNamed, and what was done to the newest.
func TestEveryChangedFileIsNamed(t *testing.T) {
	var list [][]compact.Message
	for i := range 12 {
		list = append(list, exchange(i, "edit_file", fmt.Sprintf(`{"path":"/home/of/agent/src/pkg/file_%d_of_it.go","old_string":"%s","new_string":"b"}`, i*i, strings.Repeat("a_long_text ", 20)), "done"))
	}
	record := recordOf(600, list...)
	changed := ""
	for line := range strings.Lines(record) {
		if strings.HasPrefix(line, "changed: ") {
			changed += line
		}
	}
	for i := range 12 {
		if name := fmt.Sprintf("pkg/file_%d_of_it.go", i*i); !strings.Contains(changed, name) {
			t.Errorf("%s is missing:\n%s", name, record)
		}
	}
	if !strings.Contains(record, "changed: /home/of/agent/src/pkg/file_121_of_it.go: edit_file") {
		t.Errorf("what was done last is missing:\n%s", record)
	}
}

// TestNamesAreNoLineNumbers: what grep and sed print before a line is no name, nor
// are tags and the methods of what a call returns.
func TestNamesAreNoLineNumbers(t *testing.T) {
	var got []string
	text := "786:def to_json_dict <system-reminder> </output> <mia@example.org> f(x).Visit 2024-05-12 a.go:41 10:20:30"
	for from, to := range names(text) {
		got = append(got, text[from:to])
	}
	if want := []string{"to_json_dict", "mia@example.org", "2024-05-12", "a.go:41", "10:20:30"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestWhatWasDoneIsTold: a record says which orders were placed, mails sent and
// bookings cancelled, as it says which files were changed, also where nothing else
// of the calls has room. What was only looked up is not done.
func TestWhatWasDoneIsTold(t *testing.T) {
	lists := [][]compact.Message{
		exchange(1, "cancel_reservation", `{"reservation_id":"S61CZX"}`, `{"reservation_id": "S61CZX", "status": "cancelled", "flights": [`+strings.Repeat(`"HAT136", `, 60)+`0]}`),
		exchange(2, "send_email", `{"to":"ana@mail.example","retries":2}`, "sent"),
	}
	for i := range 12 {
		lists = append(lists, exchange(3+i, "get_flight_details", fmt.Sprintf(`{"flight":"HAT%d"}`, 200+i), strings.Repeat("seats left: plenty. ", 30)))
	}
	text := recordOf(300, lists...)
	for _, want := range []string{"cancel_reservation S61CZX", "done: send_email ana@mail.example"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "done: get_flight") || strings.Contains(text, "changed: get_flight") {
		t.Errorf("what was looked up is told as done:\n%s", text)
	}
}
