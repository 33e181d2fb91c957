package learn

import "time"

// Believed counts what is believed now, of the models that requests asked for: of how
// many a fact is, by its name. Each model is behind one upstream and for one credential.
func (m *Memory) Believed() map[string]int {
	n := map[string]int{"window": 0, "input": 0, "together": 0, "messages": 0, "bytes": 0, "hard": 0, "count": 0, "shape": 0}
	now := time.Now()
	for _, e := range m.models.All() {
		e.mu.Lock()
		f := e.facts.at(now)
		e.mu.Unlock()
		for name, known := range map[string]bool{
			"window": f.Window.Value != 0, "input": f.Input.Value != 0, "together": f.Together.Value, "messages": f.Messages.Value != 0,
			"bytes": f.Bytes.Value != 0, "hard": f.Hard.Value != 0, "count": f.Count.Value != Count{}, "shape": f.Shape.Value != 0,
		} {
			if known {
				n[name]++
			}
		}
	}
	return n
}
