package digest

import (
	"regexp"
	"slices"
	"strings"
)

// ends marks commands that only cut or count what others print.
const ends kind = 255

// shows are commands that change nothing.
var shows = byWord(map[kind]string{
	reads:    "cat head tail nl less more bat sed awk jq open goto git-show git-diff git-blame",
	searches: "grep rg ag find ls tree fd which find_file search_file search_dir git-grep git-ls-files git-log",
	ends:     "cd wc sort uniq cut tr xargs echo true pwd printf",
})

// In requirements installers write what they add, and formatters change files when
// they are told to.
var (
	requirements = map[string]string{"npm": "package.json", "pnpm": "package.json", "yarn": "package.json", "bun": "package.json", "go": "go.mod", "cargo": "Cargo.toml", "poetry": "pyproject.toml", "uv": "pyproject.toml"}
	adds         = setOf("add install i get remove uninstall")
	formatters   = map[string]string{"gofmt": "-w", "goimports": "-w", "gofumpt": "-w", "prettier": "--write", "black": "", "isort": "", "rustfmt": "", "clang-format": "-i", "ruff": "format", "eslint": "--fix"}
	formats      = regexp.MustCompile(`^(?:--fix|--write|(?:[\w-]+:)*(?:fmt|format|fix|codegen|generate|gen|reformat|lint-?fix|black|isort|spotless\w*|\w*Format)(?::[\w-]+)*)$`)
	movesAll     = setOf("push save pop apply")
	namedFile    = regexp.MustCompile(`\w\.[A-Za-z]\w{0,4}$`)
	inPlace      = regexp.MustCompile(`^(?:-[a-zA-Z0]{0,3}i(?:$|[.e])|--in-place)`)
	scripted     = regexp.MustCompile(`^-\w*e$`)
	loopVariable = regexp.MustCompile(`\$\{?(\w+)`)
	loopNames    = regexp.MustCompile(`\b(?:for|read(?: -\w+)*) (\w+)`)
	xargsValue   = regexp.MustCompile(`^-[0prtx]*[IEnPLdas]$`) // another word is its value
	toFolder     = regexp.MustCompile(`^(?:-[a-z]{0,3}t|--target-directory)$`)
	suffixed     = regexp.MustCompile(`^-(?:[a-z]*S|-suffix)$`)
	installValue = regexp.MustCompile(`^-(?:[a-zA-Z]*[mog]|-mode|-owner|-group)$`)
)

// unixNames are the names of commands of Windows on other systems.
var unixNames = byWord(map[string]string{"rm": "remove-item del erase", "mv": "move-item move rename-item ren", "cp": "copy-item copy", "tee": "set-content add-content out-file"})

// psValues finds parameters of PowerShell that are no files, with what follows.
var psValues = regexp.MustCompile(`(?i)^-(?:value|encoding|include|exclude|filter|inputobject|itemtype|width)$`)

// run takes the files that a command writes, moves or removes, and returns what it
// shows. loops are the variables of its loops.
func (a *action) run(c *shellCommand, docs []heredoc, loops map[string]bool) kind {
	if len(c.words) == 0 {
		return other
	}
	into := rewritten
	if c.adds || slices.Contains(c.words, "-a") {
		into = changed
	}
	add := func(h how, paths ...string) {
		for _, path := range paths {
			if m := loopVariable.FindStringSubmatch(path); m != nil && loops[m[1]] {
				a.add(change{path: everyFile, how: touched})
			} else if strings.ContainsAny(path, "*?{") && path[0] != '-' && !strings.Contains(path, "$") {
				a.add(change{path: path, how: touched})
			}
			if path == "" || strings.IndexByte("-&$", path[0]) >= 0 || strings.HasPrefix(path, "/dev/") || strings.ContainsAny(path, "*?(){}") {
				continue
			}
			ch := change{path: path, how: h}
			for _, d := range docs { // cat > path <<EOF
				if h == into && strings.Contains(d.line, path) && (c.words[0] == "cat" || c.words[0] == "tee") {
					if ch.how, ch.new = written, d.body; strings.Contains(d.line, ">>") || slices.Contains(c.words, "-a") {
						ch.how = inserted
					}
				}
			}
			a.add(ch)
		}
	}
	add(into, c.into...)
	name, words := c.words[0], c.words[1:]
	for name == "git" && len(words) > 1 && words[0] != "" && words[0][0] == '-' { // of git itself
		if (words[0] == "-C" || words[0] == "-c") && len(words) > 2 {
			words = words[1:]
		}
		words = words[1:]
	}
	if name == "git" && len(words) > 0 {
		name, words = "git-"+words[0], words[1:]
	}
	if unix := unixNames[strings.ToLower(name)]; unix != "" {
		if slices.ContainsFunc(words, tried.MatchString) {
			return other
		}
		name = unix
		words = slices.Clone(words)
		for i := slices.IndexFunc(words, psValues.MatchString); i >= 0; i = slices.IndexFunc(words, psValues.MatchString) {
			words = slices.Delete(words, i, min(i+2, len(words)))
		}
	}
	files := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "" || w[0] == '-' && w != "-" })
	n := len(files)
	given := func(flags ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(flags, w) })
	}
	switch name {
	case "sed", "perl", "ruby":
		options := words
		if name != "sed" { // the script has those after its name
			options = ownOptions(words)
		}
		if slices.ContainsFunc(options, inPlace.MatchString) {
			scripts := len(slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !scripted.MatchString(w) }))
			add(rewritten, files[min(max(1, scripts), n):]...)
			return other
		}
	case "xargs", "find":
		before := len(a.changes)
		if name == "find" && slices.Contains(words, "-delete") || slices.ContainsFunc(onLists(name, words), func(words []string) bool {
			a.run(&shellCommand{words: append(words, "a.listed")}, nil, nil)
			return len(a.changes) > before
		}) {
			a.changes = a.changes[:before]
			add(touched, everyFile)
			return other
		}
	case "mv", "git-mv", "cp", "install", "ln":
		files = operands(name, words)
		if n = len(files); n > 1 {
			if strings.HasSuffix(name, "mv") {
				add(removed, files[:n-1]...)
			}
			to, folder := strings.CutSuffix(files[n-1], "/")
			for _, from := range files[:n-1] {
				in := to + "/" + from[strings.LastIndexByte(strings.TrimSuffix(from, "/"), '/')+1:]
				switch {
				case strings.HasSuffix(in, "/."):
					add(touched, to+"/*")
				case folder || n > 2:
					add(rewritten, in)
				case !namedFile.MatchString(to): // perhaps a folder
					add(touched, in)
					fallthrough
				default:
					add(rewritten, to)
				}
			}
		}
	case "ed", "ex":
		add(rewritten, files...)
	case "touch":
		add(changed, files...)
	case "tee", "sponge":
		add(into, files...)
	case "rm", "unlink", "git-rm":
		if !given("--cached") {
			add(removed, files...)
		}
	case "git-checkout", "git-restore", "git-switch", "git-stash", "git-reset":
		i := slices.Index(words, "--")
		switch there := n == 1 && !slices.ContainsFunc(words, func(w string) bool { return len(w) == 2 && strings.Contains("-b-B-c-C", w) }); {
		case name == "git-restore" && given("--staged", "-S") && !given("--worktree", "-W"): // of the index
		case i >= 0:
			add(restored, words[i+1:]...)
		case name == "git-restore", name == "git-checkout" && there && namedFile.MatchString(files[0]):
			add(restored, files...)
		case name == "git-reset" && given("--hard"), name == "git-stash" && (n == 0 || movesAll[files[0]]), there && (name == "git-checkout" || name == "git-switch"):
			add(changed, everyFile)
		}
	case "git-revert", "git-pull", "git-merge", "git-rebase", "git-cherry-pick", "git-am", "git-clean":
		add(touched, everyFile)
	case "git-apply", "patch":
		if given("-R", "--reverse") {
			add(touched, everyFile)
		}
	default:
		if file := requirements[name]; file != "" && n > 1 && adds[files[0]] && !slices.Contains(words, "-g") {
			add(changed, file)
		}
		flag, writes := formatters[name]
		named := slices.DeleteFunc(files, func(f string) bool { return strings.IndexByte(f, '.') <= 0 })
		switch writes = writes && (flag == "" || slices.Contains(words, flag)); {
		case given("--diff", "--check"): // it shows what it would do
		case writes && len(named) > 0:
			add(changed, named...)
		case writes, shows[name] == other && !strings.HasPrefix(name, "git-") && slices.ContainsFunc(c.words, formats.MatchString):
			add(touched, everyFile)
		}
	}
	return shows[name]
}

// ownOptions returns the words up to the first that is neither an option of perl or ruby
// nor the value of one.
func ownOptions(words []string) []string {
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case scripted.MatchString(w), w == "-I", w == "-r":
			i++
		case w == "" || w[0] != '-':
			return words[:i]
		}
	}
	return words
}

// onLists returns the commands that xargs or find runs on what it is given or finds.
func onLists(name string, words []string) (commands [][]string) {
	begins := name == "xargs"
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case name == "find" && !begins:
			begins = w == "-exec" || w == "-execdir" || w == "-ok" || w == "-okdir"
		case name == "xargs" && xargsValue.MatchString(w):
			i++
		case wrapping[w], w == "", w[0] == '-':
		default:
			end := len(words)
			if k := slices.IndexFunc(words[i:], func(w string) bool { return w == ";" || w == "+" }); k >= 0 && name == "find" {
				end = i + k
			}
			if w != "find" && w != "xargs" {
				commands = append(commands, words[i:end:end])
			}
			i, begins = end, false
			if name == "xargs" {
				return commands
			}
		}
	}
	return commands
}

// operands returns what mv, cp, install or ln takes and, as the last, where to. That ends
// with a slash if it is said to be a folder.
func operands(name string, words []string) (files []string) {
	folder := ""
	for i := 0; i < len(words); i++ {
		w := words[i]
		to, named := strings.CutPrefix(w, "--target-directory=")
		switch {
		case named:
			folder = to
		case toFolder.MatchString(w) && i+1 < len(words):
			i++
			folder = words[i]
		case name == "install" && (w == "-d" || w == "--directory"):
			return nil
		case suffixed.MatchString(w), name == "install" && installValue.MatchString(w):
			i++
		case w != "" && (w[0] != '-' || w == "-"):
			files = append(files, w)
		}
	}
	if folder != "" {
		files = append(files, strings.TrimSuffix(folder, "/")+"/")
	}
	return files
}
