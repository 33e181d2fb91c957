package deploy

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"laconic/e2e/rig"

	"go.yaml.in/yaml/v4"

	"laconic/store/storetest"
)

// instruction returns what follows an instruction of the Dockerfile's last stage that
// has one.
func instruction(t *testing.T, name string) (rest string) {
	t.Helper()
	text := rig.ReadFile(t, "../../Dockerfile")
	for line := range strings.Lines(string(text)) {
		if after, ok := strings.CutPrefix(line, name+" "); ok {
			rest = strings.TrimSpace(after)
		}
	}
	if rest == "" {
		t.Fatalf("the Dockerfile has no %s", name)
	}
	return rest
}

// words reads the form of an instruction that names a program and its arguments.
func words(t *testing.T, form string) (list []string) {
	t.Helper()
	if err := json.Unmarshal([]byte(form[strings.IndexByte(form, '['):]), &list); err != nil {
		t.Fatalf("%s: %v", form, err)
	}
	return list
}

// TestTheImageStepByStep does what the Dockerfile says, without Docker: it builds,
// finds the binary to need no library, runs it as the user of the image in a folder
// that nobody can write to and with nothing in its environment, and asks for its
// health before, during and after. The log is no terminal's, so every line is JSON.
func TestTheImageStepByStep(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds everything once more, with the flags of the image")
	}
	dir := t.TempDir()
	for at := dir; at != os.TempDir(); at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	binary := filepath.Join(dir, "laconic")
	step := instruction(t, "RUN")
	if !strings.Contains(step, " -o /laconic .") {
		t.Fatalf("RUN %s does not build the binary", step)
	}
	build := exec.Command("sh", "-c", strings.Replace(step, " -o /laconic .", " -o "+binary+" .", 1))
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	file, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if libs, _ := file.ImportedLibraries(); len(libs) > 0 || slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		t.Errorf("the binary is not static: it needs %v", libs)
	}

	empty := filepath.Join(dir, "read-only")
	if err := os.Mkdir(empty, 0o555); err != nil {
		t.Fatal(err)
	}
	as := func(args []string) *exec.Cmd {
		cmd := exec.Command(binary, args[1:]...)
		cmd.Path, cmd.Dir, cmd.Env = binary, empty, []string{}
		if os.Getuid() == 0 {
			var uid, gid uint32
			if _, err := fmt.Sscanf(instruction(t, "USER"), "%d:%d", &uid, &gid); err != nil || uid == 0 || gid == 0 {
				t.Fatalf("the user of the image is %d:%d, %v", uid, gid, err)
			}
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
		}
		return cmd
	}
	admin := storetest.FreeAddress(t)
	health := words(t, instruction(t, "HEALTHCHECK"))
	healthy := func() string {
		out, err := as(append(health, "--admin", admin)).CombinedOutput()
		if err != nil {
			return err.Error() + ": " + string(out)
		}
		return ""
	}
	if why := healthy(); !strings.HasPrefix(why, "exit status 1:") {
		t.Errorf("healthy before it runs: %q", why)
	}
	args := append(words(t, instruction(t, "ENTRYPOINT")), words(t, instruction(t, "CMD"))...)
	if args[0] != "/laconic" || health[0] != "/laconic" {
		t.Errorf("the image runs %v and %v", args, health)
	}
	var log bytes.Buffer
	serve := as(append(args, "--listen", "0.0.0.0:0", "--admin", admin))
	serve.Stdout, serve.Stderr = &log, &log // laconic 2>&1
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	why := ""
	if !rig.Soon(func() bool { why = healthy(); return why == "" }) {
		t.Errorf("not healthy: %s", why)
	}
	_ = serve.Process.Signal(syscall.SIGTERM)
	if err := serve.Wait(); err != nil {
		t.Errorf("it did not end as it should: %v", err)
	}
	if healthy() == "" {
		t.Error("healthy after its end")
	}
	if log.Len() == 0 {
		t.Fatal("no log")
	}
	for line := range strings.Lines(log.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not a line of JSON: %q", line)
		}
	}
}

// TestTheComposeFileFitsItself: the configuration that deploy/compose.yaml mounts is right in
// the environment that it gives, and its Prometheus asks the admin address.
func TestTheComposeFileFitsItself(t *testing.T) {
	var compose struct {
		Services map[string]struct{ Environment map[string]string }
	}
	readYAML(t, "../../deploy/compose.yaml", &compose)
	check := exec.Command(rig.Command(t), "check", "../../deploy/laconic.yaml")
	check.Env = []string{}
	for name, value := range compose.Services["laconic"].Environment {
		if strings.Contains(value, ":?") {
			value = strings.Repeat("x1y2z3", 4)
		}
		check.Env = append(check.Env, name+"="+regexp.MustCompile(`\$\{\w+:-(.*)\}`).ReplaceAllString(value, "$1"))
	}
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	var own struct{ Admin string }
	readYAML(t, "../../deploy/laconic.yaml", &own)
	_, port, _ := net.SplitHostPort(own.Admin)
	if text, err := os.ReadFile("../../deploy/prometheus.yml"); err != nil || !strings.Contains(string(text), "laconic:"+port) {
		t.Errorf("Prometheus does not ask laconic:%s: %v", port, err)
	}
	t.Run("promtool", func(t *testing.T) {
		tool := rig.Installed(t, "promtool", "prometheus")
		if out, err := exec.Command(tool, "check", "config", "--syntax-only", "../../deploy/prometheus.yml").CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
}

func readYAML(t *testing.T, name string, into any) {
	t.Helper()
	text := rig.ReadFile(t, name)
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// TestTheServiceIsOneThatSystemdTakes verifies deploy/laconic.service with the
// binary in the place of the one that would be installed.
func TestTheServiceIsOneThatSystemdTakes(t *testing.T) {
	text := rig.ReadFile(t, "../../deploy/laconic.service")
	const start = "\nExecStart=laconic" // by hand it is installed elsewhere than by a package
	if !strings.Contains(string(text), start+" serve --config ") {
		t.Error("it does not run laconic serve from where it is installed")
	}
	if !strings.Contains(string(text), "\nExecReload=/bin/kill -HUP $MAINPID\n") {
		t.Error("systemctl reload does not read the configuration again")
	}
	manual := rig.ReadFile(t, "../../docs/redis.md")
	if strings.Contains(string(manual), "`unix://") && !regexp.MustCompile(`(?m)^RestrictAddressFamilies=.*\bAF_UNIX\b`).Match(text) {
		t.Error("it forbids the sockets of docs/redis.md")
	}
	tool := rig.Installed(t, "systemd-analyze", "systemd")
	unit := filepath.Join(t.TempDir(), "laconic.service")
	rig.WriteFile(t, unit, strings.ReplaceAll(string(text), start, "\nExecStart="+rig.Command(t)))
	if out, err := exec.Command(tool, "verify", unit).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
	out, err := exec.Command(tool, "security", "--offline=true", "--threshold=20", unit).CombinedOutput()
	if err != nil && !strings.Contains(string(out), "Unknown") && !strings.Contains(string(out), "unrecognized") {
		t.Errorf("more exposed than 2.0: %s", out[max(0, len(out)-300):])
	}
}
