package stage_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/stage"
)

func TestYard(t *testing.T) {
	if os.Getenv("YARD") == "" {
		t.Skip("measuring only")
	}
	dir := compacttest.SharedDir(t)
	facts := map[string]map[int][]string{}
	fs, _ := filepath.Glob(filepath.Join(dir, "facts", "*.jsonl"))
	for _, f := range fs {
		h, _ := os.Open(f)
		sc := bufio.NewScanner(h)
		sc.Buffer(nil, 64<<20)
		for sc.Scan() {
			var r struct {
				ID    string
				Facts []struct {
					Call  int
					Value string
				}
			}
			json.Unmarshal(sc.Bytes(), &r)
			m := map[int][]string{}
			for _, x := range r.Facts {
				m[x.Call] = append(m[x.Call], x.Value)
			}
			facts[r.ID] = m
		}
		h.Close()
	}
	all := compacttest.Shared(t)
	groups := map[string][]string{"code": {"openhands_swebench_claude35", "mini_swe_agent_deepseek", "codex_cli_typescript", "claude_code_go"}, "service": {"tau_bench_airline_gpt4o", "agentdojo_banking_workspace"}}
	run := func(group string, share float64) {
		var totF, totHit, totReq, totFit, totFitQ, totQ int
		var paid, full float64
		var lines []string
		for _, file := range groups[group] {
			var nF, nHit, nReq, nFit int
			var fp, ff float64
			for _, rec := range all {
				if rec.File != file {
					continue
				}
				c := compacttest.Bytes{}
				var peak int
				peak = compact.CostAll(c, rec.Messages)
				if group == "service" && peak <= 3000 {
					continue
				}
				b := compact.Limits{Budget: int(float64(peak) * share)}.For(0)
				var prev []compact.Message
				var prevFull []compact.Message
				for k, m := range rec.Messages {
					if m.Role != compact.Assistant {
						continue
					}
					in := compact.Conversation{Messages: rec.Messages[:k:k]}
					size := compact.CostAll(c, in.Messages)
					plan, r := compact.Compact(in, yardPolicy(), c, b)
					out := plan.Apply(in, "")
					nReq++
					if r.After <= b.Tokens {
						nFit++
					}
					must, newest, first := 0, 0, true
					for i := range in.Messages {
						mm := &in.Messages[i]
						if mm.Role.Head() {
							must += compact.Cost(c, mm)
						} else if mm.Role == compact.User {
							if first {
								must += compact.Cost(c, mm)
								first = false
							} else {
								newest = compact.Cost(c, mm)
							}
						}
					}
					if must+newest < b.Tokens*4/5 {
						totQ++
						if r.After <= b.Tokens {
							totFitQ++
						}
					}
					fp += price(prev, out)
					ff += price(prevFull, in.Messages)
					prev, prevFull = out, in.Messages
					if size > b.Tokens && len(facts[rec.ID][k]) > 0 {
						var sb strings.Builder
						for i := range out {
							for _, p := range out[i].Parts {
								sb.WriteString(p.Text.String() + "\n")
							}
							for _, cl := range out[i].Calls {
								sb.WriteString(cl.Name + " " + cl.Arguments.String() + "\n")
							}
						}
						text := sb.String()
						for _, v := range facts[rec.ID][k] {
							nF++
							if strings.Contains(text, v) {
								nHit++
							} else if os.Getenv("YARD") == "3" {
								inArgs, inUser, inTool, inProse, lastAt := 0, 0, 0, 0, 0
								for i := range in.Messages {
									mm := &in.Messages[i]
									for _, p := range mm.Parts {
										if strings.Contains(p.Text.String(), v) {
											lastAt = i
											switch mm.Role {
											case compact.User:
												inUser++
											case compact.Assistant:
												inProse++
											default:
												inTool++
											}
										}
									}
									for _, cl := range mm.Calls {
										if strings.Contains(cl.Arguments.String(), v) {
											inArgs++
											lastAt = i
										}
									}
								}
								fmt.Printf("MISS %s %.2f k=%d last=%d args=%d user=%d tool=%d prose=%d %q\n", file[:6], share, k, k-lastAt, inArgs, inUser, inTool, inProse, v)
							}
						}
					}
				}
			}
			lines = append(lines, fmt.Sprintf("  %-32s recall %.1f (%d) fits %.1f cost %.3f of full-cached %.3f", file, 100*float64(nHit)/float64(max(1, nF)), nF, 100*float64(nFit)/float64(nReq), fp/ff, fp))
			totF += nF
			totHit += nHit
			totReq += nReq
			totFit += nFit
			paid += fp
			full += ff
		}
		fmt.Printf("%s %.2f: recall %.2f (%d)  fits %.1f (of those that can %.2f)  cost %.4f\n", group, share, 100*float64(totHit)/float64(max(1, totF)), totF, 100*float64(totFit)/float64(totReq), 100*float64(totFitQ)/float64(totQ), paid/full)
		if os.Getenv("YARD") == "2" {
			fmt.Println(strings.Join(lines, "\n"))
		}
	}
	if os.Getenv("SERVICE") == "" {
		run("code", 0.5)
		run("code", 0.25)
	}
	run("service", 0.6)
}

func envf(name string, v float64) float64 {
	if s := os.Getenv(name); s != "" {
		fmt.Sscan(s, &v)
	}
	return v
}

func yardPolicy() *compact.Policy {
	p := &compact.Policy{Ladder: stage.Default(), Trigger: envf("TRIG", 0.95), Land: envf("LAND", 0.4), Warm: envf("WARM", 0.7), KeepRecent: compact.KeepRecent{Share: envf("KEEP", 0.15)}}
	if l := os.Getenv("LADDER"); l != "" {
		p.Ladder = nil
		for _, n := range strings.Split(l, ",") {
			name, opt, _ := strings.Cut(n, ":")
			s, err := stage.New(name, []byte(strings.ReplaceAll(opt, ";", ",")))
			if err != nil {
				panic(err)
			}
			p.Ladder = append(p.Ladder, s)
		}
	}
	return p
}

func price(prev, out []compact.Message) float64 {
	c := compacttest.Bytes{}
	cached, total := 0, 0
	same := true
	for i := range out {
		n := compact.Cost(c, &out[i])
		total += n
		if same && i < len(prev) && prev[i].Equal(&out[i]) {
			cached += n
			continue
		}
		if same && i < len(prev) && len(prev[i].Parts) > 0 && len(out[i].Parts) > 0 && prev[i].Role == out[i].Role && prev[i].Parts[0].Equal(out[i].Parts[0]) {
			cached += c.Part(&out[i].Parts[0])
		}
		same = false
	}
	return float64(total-cached) + 0.1*float64(cached)
}
