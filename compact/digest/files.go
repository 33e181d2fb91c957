package digest

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// files are the files that calls changed, by their paths.
type files map[string]*file

// A file is what calls made of a file.
type file struct {
	path    string
	last    *event // that changed it
	at      int    // of the last event, in the order of changes
	times   int
	state   how      // what was done to the whole of it last
	whole   bool     // one of the regions is all of it
	touched bool     // a command changed it or another agent spoke of it: nobody knows how it is
	regions []region // oldest change first
}

// A region is a text in a file that was changed, as it was and as it is now.
type region struct {
	old, new string
	last     *event
}

// What is known of a file is bounded: so many regions, and texts of such a
// length in which others are looked for.
const (
	mostRegions = 24
	mostRegion  = 1 << 16
	mostPath    = 512
)

// apply notes a change that happened. One that left late takes nothing of those after it.
func (fs files) apply(c *change, e *event) {
	path := strings.TrimSuffix(strings.TrimPrefix(c.path, "./"), "/")
	f, every, ends := fs.find(path), path == everyFile && c.how != touched, c.how == removed || c.how == restored
	if every || c.how == touched || len(fs) <= mostChanges {
		for p, g := range fs {
			switch before := g.before(e.origin); {
			case every:
				g.end(changed, e, g.last)
			case ends && strings.HasPrefix(p, path+"/"):
				g.end(c.how, e, e)
			case c.how == touched:
				g.touched = g.touched || before && mayBe(path, p)
			case before && g != f && (ends || e.command != "") && (endAlike(p, path) || strings.Contains("/"+p, "/"+path+"/") || strings.HasPrefix(path, "/") && strings.HasSuffix(path, "/"+p[:max(0, strings.LastIndexByte(p, '/'))])): // perhaps of another folder
				g.touched = true
			}
		}
	}
	if c.how == touched || path == "" || len(path) > mostPath || strings.IndexByte(path, '\n') >= 0 {
		return
	}
	if f == nil {
		f = &file{path: path}
		fs[path] = f
	}
	if f.last != e {
		f.times++
	}
	if by := fs.after(path, e); by != nil {
		f.end(by.state, e, e)
		return
	}
	f.touched = c.how == changed || f.touched && len(f.regions) > 0 && c.how != written
	f.last, f.at, f.state = e, e.origin*mostChanges+f.times%mostChanges, c.how
	f.whole = c.how == written || f.whole && (c.how == replaced || c.how == inserted)
	switch c.how {
	case replaced:
		f.replace(c, e)
	case inserted:
		f.add(region{new: c.new, last: e})
	case written:
		f.regions = []region{{new: c.new, last: e}}
	case removed, restored, rewritten:
		f.regions = nil
	}
}

// mayBe reports whether what a pattern names, or a file in a folder that only the shell
// knows, may be a file.
func mayBe(of, path string) bool {
	if i := strings.LastIndexAny(of, "*?}"); i >= 0 {
		return strings.HasSuffix(path, of[i+1:])
	}
	return of == everyFile || strings.HasSuffix("/"+path, "/"+of)
}

// after returns what was changed after an event although it left before it: the file at a
// path, a folder that it is in, or all files; or nil.
func (fs files) after(path string, e *event) *file {
	for f := fs.find(path); ; f = fs[path] {
		if f != nil && f.last != nil && f.last.origin > e.origin {
			return f
		} else if path == everyFile {
			return nil
		}
		path = cmp.Or(path[:max(0, strings.LastIndexByte(path, '/'))], everyFile)
	}
}

// later returns the very file that an event read, if the file was changed after it, or nil.
// Git reads other files than those of the folder.
func (fs files) later(e *event) *file {
	f := fs[strings.TrimPrefix(e.path, "./")]
	if f == nil || f.last == nil || f.last.origin <= e.origin || intoFolder.MatchString(e.command) || strings.HasPrefix(e.command, "git ") {
		return nil
	}
	return f
}

// gone returns the lines that changes took out of a file.
func (f *file) gone() map[string]bool {
	lines := map[string]bool{}
	for _, g := range f.regions {
		for _, l := range difference(g.old, g.new) {
			lines[l[1:]] = l[0] == '-'
		}
	}
	return lines
}

// before reports whether what is known of a file is from before a message.
func (f *file) before(origin int) bool { return f.last == nil || f.last.origin <= origin }

// end notes that an event ended what is known of a file from before it.
func (f *file) end(state how, e, last *event) {
	f.regions = slices.DeleteFunc(f.regions, func(g region) bool { return g.last.origin <= e.origin })
	if f.before(e.origin) {
		f.state, f.last = state, last
	}
}

// namedIn notes that a message speaks of files that somebody may have changed. It reports
// whether it does.
func (fs files) namedIn(text string, origin int) (named bool) {
	if len(fs) > mostChanges {
		return false
	}
	for _, f := range fs {
		if f.path != everyFile && f.before(origin) && strings.Contains(text, f.path[strings.LastIndexAny(f.path, `/\`)+1:]) {
			f.touched, named = true, true
		}
	}
	return named
}

// everyFile is the path of a change to any file: nobody knows what is in them after it.
const everyFile = "."

// find returns the file at a path, which may be given from another folder.
func (fs files) find(path string) (found *file) {
	if f := fs[path]; f != nil || len(fs) > mostChanges {
		return f
	}
	at, absolute := "", strings.HasPrefix(path, "/")
	for p, f := range fs { // a relative path is that of the highest file, and an absolute one of the nearest
		if endAlike(p, path) && (p[0] == '/' || absolute) && (found == nil || len(p) > len(at) == absolute && len(p) != len(at) || len(p) == len(at) && p < at) {
			found, at = f, p
		}
	}
	return found
}

// endAlike reports whether one path is that of a folder's before the other.
func endAlike(a, b string) bool { return strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a) }

// replace notes that a text of the file became another. Regions that were changed before
// and have a part of the text are one with it: as it was before all changes, and as it is now.
func (f *file) replace(c *change, e *event) {
	was, is, now, known := c.old, c.old, c.new, false
	for i := len(f.regions) - 1; i >= 0; i-- {
		g := &f.regions[i]
		if len(g.new)+len(is) > mostRegion {
			continue
		}
		holds := is != "" && strings.Contains(g.new, is)
		switch {
		case holds && c.all && strings.Count(g.new, is)*len(now) > mostRegion:
		case holds && c.all:
			g.new, g.last, known = strings.ReplaceAll(g.new, is, now), e, true
			continue
		case holds:
			g.new, g.last = strings.Replace(g.new, is, now, 1), e
			return
		case len(g.new) > sameText && strings.Contains(is, g.new):
			was = strings.Replace(was, g.new, g.old, 1)
		case overlap(g.new, is), overlap(is, g.new): // nobody knows its other part
		default:
			continue
		}
		f.regions = slices.Delete(f.regions, i, i+1)
	}
	if !known {
		f.add(region{old: was, new: now, last: e})
	}
}

// overlap reports whether a ends with what b begins with, if that is not short.
func overlap(a, b string) bool {
	line, _, _ := strings.Cut(b, "\n")
	i := strings.LastIndex(a, line)
	return i >= 0 && len(a)-i > samePlace && strings.HasPrefix(b, a[i:])
}

// sameText is the length above which two texts of a file are the same only if they are of
// one place, and samePlace that of the ends of two edits, which often are alike.
const (
	sameText  = 20
	samePlace = 40
)

func (f *file) add(g region) {
	f.regions = append(f.regions[max(0, len(f.regions)-mostRegions+1):], g)
}

// since returns the files that were changed by one of the events, the last change
// first.
func (fs files) since(events []*event) []*file {
	in := make(map[*event]bool, len(events))
	for _, e := range events {
		in[e] = true
	}
	return slices.DeleteFunc(slices.SortedFunc(maps.Values(fs), newestFirst), func(f *file) bool { return f.path == everyFile || !in[f.last] })
}

func newestFirst(a, b *file) int {
	return cmp.Or(cmp.Compare(b.at, a.at), strings.Compare(a.path, b.path))
}

// forget forgets all but the n files that were changed last.
func (fs files) forget(n int) {
	for i, f := range slices.SortedFunc(maps.Values(fs), newestFirst) {
		if i >= n {
			delete(fs, f.path)
		}
	}
}

// mostChanges bounds how many changes of one call are read.
const mostChanges = 256

// add notes a change, unless there are too many or nobody knows where.
func (a *action) add(c change) {
	if c.path != "" && len(a.changes) < mostChanges {
		a.changes = append(a.changes, c)
	}
}
