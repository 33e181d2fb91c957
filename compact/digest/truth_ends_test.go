package digest

import (
	"slices"
	"strings"

	"laconic/compact/agent"
	"laconic/compact/quote"
	"laconic/proxy/wire/wiretest"
)

// verdict judges how a step is told to have ended.
func (m *truth) verdict(s *recordedStep) {
	e := s.event
	told := e.outcome.Verdict
	code, known := s.code()
	failing, sure := known && code != "0", known
	switch {
	case e.Kind == agent.Edits && s.command == "":
		yes, no := edited.MatchString(strings.TrimSpace(s.result)), unedited.MatchString(quote.First(s.result, 400))
		if yes == no {
			return
		}
		failing, known, sure = no, true, true
	case (!known && e.Kind == agent.Runs) || known && code == "0" && piped.MatchString(s.command): // it is another program's
		failing, known, sure = printsFailure.MatchString(s.result) && told == agent.Failed, known || told == agent.Failed, false
	case code == "1" && strings.Contains(s.command, "grep"): // it found nothing
		return
	case !known:
		failing, known = noReading.MatchString(quote.First(s.result, 600)) && len(s.result) < 2000, told == agent.Failed
		sure = false
	}
	is := told == agent.Failed || told == agent.Refused
	if told == agent.Failed && !m.failures.count(failing) {
		m.miss("no failure", "%s %s → %q of %s", s.tool, s.raw, e.outcome.Says, s.result)
	}
	if sure && failing && !m.failed.count(is) {
		m.miss("failure not told", "%s %s → %s", s.tool, s.raw, s.result)
	}
	if known && (is || told == agent.Passed) && !m.verdicts.count(is == failing) {
		m.miss("verdict", "%s %s → %d, is %q: %s", s.tool, s.raw, told, code, s.result)
	}
	if e.result.Coded && e.Kind == agent.Runs {
		hidden := e.result
		hidden.Coded, hidden.Code = false, 0
		if o := e.OutcomeOf(&hidden); o.Verdict == agent.Failed && !m.blind.count(code != "0" || printsFailure.MatchString(s.result)) {
			m.miss("no failure by its text", "%s → %q of %s", s.raw, o.Says, s.result)
		}
	}
}

// readings finds files that were read twice and had changed: a change was made
// between, and has to be told.
func (m *truth) readings(steps []recordedStep) {
	last := map[string]int{}
	for i := range steps {
		s := &steps[i]
		path := s.event.Path
		if s.event.Kind != agent.Reads || s.command != "" || path == "" || s.event.outcome.Verdict == agent.Failed {
			continue
		}
		key := s.tool + s.raw
		before, had := last[key]
		if last[key] = i; !had || strings.TrimSpace(steps[before].event.result.Text) == strings.TrimSpace(s.event.result.Text) || strings.Contains(s.result, "unchanged") {
			continue
		}
		told := slices.ContainsFunc(steps[before+1:i], func(b recordedStep) bool {
			return slices.ContainsFunc(b.event.Changes, func(c agent.Change) bool {
				return (strings.HasSuffix(path, strings.TrimPrefix(c.Path, "./")) || strings.HasSuffix(c.Path, path)) && b.event.Happened(&c, b.event.outcome, &b.event.result)
			})
		})
		if !m.told.count(told) {
			m.miss("change not told", "%s was read as %s, then as %s", path, quote.First(steps[before].result, 100), quote.First(s.result, 100))
		}
	}
}

// users judges the lines that are told as the user's: none stands in a result that
// came before.
func (m *truth) users(c wiretest.Recorded, r *Record) {
	read := map[string]bool{}
	at := 0
	for _, e := range r.events {
		if e.class != userWords {
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
