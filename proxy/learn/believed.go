package learn

import "time"

// Believed is of how many models a fact is believed, each behind one upstream and
// for one credential.
type Believed struct{ Window, Input, Together, Messages, Bytes, Hard, Count, Shape int }

// Believed counts what is believed now, of the models that requests asked for.
func (m *Memory) Believed() (n Believed) {
	now := time.Now()
	for _, e := range m.models.All() {
		e.mu.Lock()
		f := e.facts.at(now)
		e.mu.Unlock()
		for _, c := range []struct {
			n       *int
			unknown bool
		}{
			{&n.Window, f.Window.Value == 0},
			{&n.Input, f.Input.Value == 0},
			{&n.Together, !f.Together.Value},
			{&n.Messages, f.Messages.Value == 0},
			{&n.Bytes, f.Bytes.Value == 0},
			{&n.Hard, f.Hard.Value == 0},
			{&n.Count, f.Count.Value == Count{}},
			{&n.Shape, f.Shape.Value == 0},
		} {
			if !c.unknown {
				*c.n++
			}
		}
	}
	return n
}
