package digest

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/diff"

	"laconic/compact/agent"
)

// files are the files that calls changed, by their paths.
type files map[string]*file

// A file is what calls made of a file.
type file struct {
	path    string
	last    *event                // that changed it
	how     agent.How             // it was changed last
	stays   bool                  // the model read how it is when a part was written
	touched bool                  // a command changed it or another agent spoke of it: nobody knows how it is
	regions []agent.Change        // with the new texts as they are now, oldest change first
	edited  lineSet               // of a file that is known whole, by edits after that
	writes  func() []agent.Change // what a file that is known whole changes when it runs
}

// whole reports whether a region is all of a file: none stays before it.
func (f *file) whole() bool { return len(f.regions) > 0 && f.regions[0].How == agent.Written }

// What is known of files is bounded: so many files, also of the scripts of one command, regions of
// each, and texts of such a length in which others are looked for. Above the length sameText two
// texts of a file are the same only if they are of one place, and above samePlace the ends of two
// edits, which often are alike.
const (
	mostFiles   = 256
	mostRegions = 24
	mostRegion  = 1 << 16
	mostEdited  = 1 << 12 // lines
	mostPath    = 512
	sameText    = 20
	samePlace   = 40
)

// apply notes a change that happened.
func (fs files) apply(c *agent.Change, e *event) {
	path := strings.TrimSuffix(strings.TrimPrefix(c.Path, "./"), "/")
	f, late := fs[path], fs.after(path, e)
	for p, g := range fs {
		if (g != f || c.How == agent.Touched) && g.last.origin <= e.origin && mayBe(path, p) {
			if g.touched = true; c.How > agent.Written && c.How < agent.Touched {
				g.how, g.regions = agent.Changed, nil
			}
		}
	}
	if c.How == agent.Touched && path != agent.EveryFile || path == "" || len(path) > mostPath || strings.IndexByte(path, '\n') >= 0 {
		return
	}
	if f == nil {
		f = &file{path: path, last: e, edited: lineSet{}}
		if fs[path] = f; len(fs) > 2*mostFiles {
			fs.forget(mostFiles)
		}
	}
	if late {
		f.touched = true
		return
	}
	f.last, f.how, f.stays = e, c.How, false
	if c.How != agent.Replaced { // of what was known nothing holds
		f.regions = nil
	}
	f.touched = f.touched && len(f.regions) > 0
	if c.How <= agent.Written {
		if f.replace(c); c.How == agent.Written {
			f.edited = lineSet{}
		} else if f.whole() && len(f.edited) < mostEdited {
			fresh, _ := difference(c.Old, c.New)
			f.edited.add(strings.Join(fresh, "\n"))
		}
		f.writes = sync.OnceValue(func() []agent.Change { return agent.WrittenBy(f.regions[0].New) })
	}
}

// mayBe reports whether what a pattern or a path names, or a folder, may be a file or have
// it: paths may be given from another folder.
func mayBe(of, path string) bool {
	if i := strings.LastIndexAny(of, "*?}"); i >= 0 {
		return strings.HasSuffix(path, of[i+1:])
	}
	name := of
	if strings.HasPrefix(of, "/") {
		name = of[strings.LastIndexByte(of, '/')+1:]
	}
	return of == agent.EveryFile || strings.Contains("/"+path+"/", "/"+name+"/") || strings.HasSuffix(of, "/"+path)
}

// after reports whether what may be the file at a path, or any where that is "", was changed after
// an event, which left late.
func (fs files) after(path string, e *event) bool {
	for p, f := range fs {
		if f.last.origin > e.origin && (path == "" || mayBe(p, path)) {
			return true
		}
	}
	return false
}

// later returns the very file that an event read, if the file was changed after it, or nil.
func (fs files) later(e *event) *file {
	f := fs[strings.TrimPrefix(e.Path, "./")]
	if f == nil || f.last.origin <= e.origin || e.Moves {
		return nil
	}
	return f
}

// namedIn notes that a message speaks of files that somebody may have changed. It reports
// whether it does.
func (fs files) namedIn(text string, origin int) (named bool) {
	for _, f := range fs {
		if f.path != agent.EveryFile && f.last.origin <= origin && strings.Contains(text, f.path[strings.LastIndexAny(f.path, `/\`)+1:]) {
			f.touched, named = true, true
		}
	}
	return named
}

// replace notes that a text of the file became another. A region that has the text changes
// with it, and of others that have a part of it, such as more than half of its lines, nobody
// knows how they are.
func (f *file) replace(c *agent.Change) {
	first, _, _ := strings.Cut(c.Old, "\n")
	last := c.Old[strings.LastIndexByte(c.Old, '\n')+1:]
	was := lineSet{}
	was.add(c.Old)
	for i := len(f.regions) - 1; i >= 0; i-- {
		g := &f.regions[i]
		long := len(g.New)+len(c.New) > mostRegion
		holds := c.Old != "" && !long && strings.Contains(g.New, c.Old)
		lines, _ := was.count(g.New, nil)
		switch {
		case holds && !c.All:
			g.New = strings.Replace(g.New, c.Old, c.New, 1)
			return
		case holds, long, lines > 2 && lines*2 > len(was), len(g.New) > sameText && strings.Contains(c.Old, g.New),
			len(first) > samePlace && strings.Contains(g.New, first), len(last) > samePlace && strings.Contains(g.New, last):
			f.regions = slices.Delete(f.regions, i, i+1)
		}
	}
	f.regions = append(f.regions[max(0, len(f.regions)-mostRegions+1):], *c)
}

// newest returns the files, the last change first.
func (fs files) newest() []*file {
	return slices.SortedFunc(maps.Values(fs), func(a, b *file) int {
		return cmp.Or(cmp.Compare(b.last.origin, a.last.origin), strings.Compare(a.path, b.path))
	})
}

// forget forgets all but the n files that were changed last.
func (fs files) forget(n int) {
	for _, f := range fs.newest()[min(n, len(fs)):] {
		delete(fs, f.path)
	}
}

// difference returns the lines that are new in the text that another one became, and those that
// are gone.
func difference(old, new string) (fresh, gone []string) {
	ended := func(text string) []byte {
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		return []byte(text)
	}
	_, hunks, _ := strings.Cut(string(diff.Diff("", ended(old), "", ended(new))), "\n@@")
	from, none := 0, "\x00" // the lines that are gone just above, and one of them that is not
	for l := range strings.Lines(hunks) {
		switch text := strings.TrimSuffix(l[1:], "\n"); l[0] {
		case '+':
			if i := slices.Index(gone[from:min(len(gone), from+mostNear)], text); i >= 0 { // the diff is not the shortest
				from += i + 1
				gone[from-1] = none
				continue
			}
			fresh = append(fresh, text)
		case '-':
			gone = append(gone, text)
		default:
			from = len(gone)
		}
	}
	gone = slices.DeleteFunc(gone, func(l string) bool { return l == none })
	return fresh, gone
}
