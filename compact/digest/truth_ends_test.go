package digest

import (
	"slices"
	"strings"

	"laconic/proxy/wire/wiretest"
)

// verdict judges how a step is told to have ended.
func (m *truth) verdict(s *recordedStep) {
	e := s.event
	told := e.outcome.verdict
	code, known := s.code()
	failing, sure := known && code != "0", known
	switch {
	case e.kind == edits && s.command == "":
		yes, no := edited.MatchString(strings.TrimSpace(s.result)), unedited.MatchString(firstBytes(s.result, 400))
		if yes == no {
			return
		}
		failing, known, sure = no, true, true
	case (!known && e.kind == runs) || known && code == "0" && piped.MatchString(s.command): // it is another program's
		failing, known, sure = printsFailure.MatchString(s.result) && told == failed, known || told == failed, false
	case code == "1" && strings.Contains(s.command, "grep"): // it found nothing
		return
	case !known:
		failing, known = noReading.MatchString(firstBytes(s.result, 600)) && len(s.result) < 2000, told == failed
		sure = false
	}
	is := told == failed || told == refused
	if told == failed && !m.failures.count(failing) {
		m.miss("no failure", "%s %s → %q of %s", s.tool, s.raw, e.outcome.says, s.result)
	}
	if sure && failing && !m.failed.count(is) {
		m.miss("failure not told", "%s %s → %s", s.tool, s.raw, s.result)
	}
	if known && (is || told == passed) && !m.verdicts.count(is == failing) {
		m.miss("verdict", "%s %s → %d, is %q: %s", s.tool, s.raw, told, code, s.result)
	}
	if e.result.coded && e.kind == runs {
		hidden := e.result
		hidden.coded, hidden.code = false, 0
		if o := e.outcomeOf(&hidden); o.verdict == failed && !m.blind.count(code != "0" || printsFailure.MatchString(s.result)) {
			m.miss("no failure by its text", "%s → %q of %s", s.raw, o.says, s.result)
		}
	}
}

// readings finds files that were read twice and had changed: a change was made
// between, and has to be told.
func (m *truth) readings(steps []recordedStep) {
	last := map[string]int{}
	for i := range steps {
		s := &steps[i]
		path := s.event.path
		if s.event.kind != reads || s.command != "" || path == "" || s.event.outcome.verdict == failed {
			continue
		}
		key := s.tool + s.raw
		before, had := last[key]
		if last[key] = i; !had || strings.TrimSpace(steps[before].event.result.text) == strings.TrimSpace(s.event.result.text) || strings.Contains(s.result, "unchanged") {
			continue
		}
		told := slices.ContainsFunc(steps[before+1:i], func(b recordedStep) bool {
			return slices.ContainsFunc(b.event.changes, func(c change) bool {
				return (strings.HasSuffix(path, strings.TrimPrefix(c.path, "./")) || strings.HasSuffix(c.path, path)) && b.event.happened(&c, b.event.outcome, &b.event.result)
			})
		})
		if !m.told.count(told) {
			m.miss("change not told", "%s was read as %s, then as %s", path, firstBytes(steps[before].result, 100), firstBytes(s.result, 100))
		}
	}
}

// users judges the lines that are told as the user's: none stands in a result that
// came before.
func (m *truth) users(c wiretest.Recorded, r *Record) {
	read := map[string]bool{}
	at := 0
	for _, e := range r.events {
		if e.by != byUser {
			continue
		}
		for ; at < len(c.Messages) && c.Messages[at].Origin < e.origin; at++ {
			if !c.Messages[at].Role.Result() {
				continue
			}
			for k := range c.Messages[at].Parts {
				for line := range strings.SplitSeq(c.Messages[at].Parts[k].Text.String(), "\n") {
					if line = strings.TrimSpace(line); len(line) > 40 {
						read[line] = true
					}
				}
			}
		}
		for line := range strings.SplitSeq(e.words, "\n") {
			if line = strings.TrimSpace(line); line != "" && !m.words.count(!read[line]) {
				m.miss("no word of the user", "%s", line)
			}
		}
	}
}
