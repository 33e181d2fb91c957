package replay

import (
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"

	"laconic/compact"
	"laconic/replay/record"
)

// records are the texts that the records of one conversation said, told from
// each other by how much they were told and when: a policy promises that the
// same start of a conversation makes the same record.
type records map[told]string

// told is one call of a record.
type told struct {
	call, lost, kept, size int
	newest                 int // the last message that is kept, in the client's list
	anew                   bool
}

// recorder is a record that asks another only for what was not said yet.
type recorder struct {
	records
	of      func() compact.Recorder
	by      compact.Recorder // nil: not asked yet
	calls   int
	pending []func(compact.Recorder) string // what by was not told yet
}

func (s records) make(by compact.Digester, c compact.Counter) compact.Recorder {
	return (&recorder{records: s, of: func() compact.Recorder { return by.Record(c) }}).add
}

// add is a [compact.Recorder].
func (r *recorder) add(lost, kept []compact.Message, size int, anew bool) string {
	key := told{r.calls, len(lost), len(kept), size, -1, anew}
	if n := len(kept); n > 0 {
		key.newest = kept[n-1].Origin
	}
	r.calls++
	r.pending = append(r.pending, func(by compact.Recorder) string { return by(lost, kept, size, anew) })
	if text, ok := r.records[key]; ok {
		return text
	}
	if r.by == nil {
		r.by = r.of()
	}
	text := ""
	for _, tell := range r.pending {
		text = tell(r.by)
	}
	r.pending = nil
	r.records[key] = text
	return text
}

// Measured replays the conversations of the files. It also returns the recall of those
// with facts, by file and row. With quick a record is taken from the request before if no
// epoch came between, as the policy promises that it would be the same.
func Measured(t *testing.T, o Options, quick bool) (res Result, recalls map[string][][]float64) {
	t.Helper()
	var workers errgroup.Group
	workers.SetLimit(2)
	var all []*replayed
	for _, file := range o.Files {
		for r, bad := range record.Read(file, nil) {
			if bad != nil {
				t.Error("not read: ", bad)
				continue
			}
			one := new(replayed)
			all = append(all, one)
			workers.Go(func() error {
				*one = o.measured(r, quick)
				return nil
			})
		}
	}
	_ = workers.Wait()
	o.Files = nil
	res, recalls = ran(t, o), map[string][][]float64{} // of nothing
	for _, one := range all {
		res.take(one)
		for _, file := range []string{one.file, res.Total.File} {
			if recalls[file] == nil {
				recalls[file] = make([][]float64, len(res.Total.Rows))
			}
			for n := range one.runs {
				if k := one.runs[n].Kept; k.Facts > 0 {
					recalls[file][n] = append(recalls[file][n], float64(k.Recalled)/float64(k.Facts))
				}
			}
		}
	}
	return res, recalls
}

// measured replays one conversation under all budgets.
func (o Options) measured(r *record.Conversation, quick bool) replayed {
	o.Prices = &DefaultPrices
	if !quick {
		return *o.replay(r)
	}
	all := replayed{file: r.File}
	for _, b := range o.Budgets {
		with := o
		with.Budgets, with.Policies = []Budget{b}, slices.Clone(o.Policies)
		for i := range with.Policies {
			p := *with.Policies[i].Policy
			p.Records = records{}.make
			with.Policies[i].Policy = &p
		}
		all.runs = append(all.runs, with.replay(r).runs...)
	}
	return all
}
