package deploy

import (
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
	text, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
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
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	serve := as(append(args, "--listen", "0.0.0.0:0", "--admin", admin))
	serve.Stdout, serve.Stderr = log, log // laconic 2>&1
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
	said, err := os.ReadFile(log.Name())
	if err != nil || len(said) == 0 {
		t.Fatalf("no log: %v", err)
	}
	for line := range strings.Lines(string(said)) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not a line of JSON: %q", line)
		}
	}
}

// TestTheComposeFileFitsItself: what the services of deploy/compose.yaml name of each
// other, of their files and of laconic's commands is there.
func TestTheComposeFileFitsItself(t *testing.T) {
	var compose struct {
		Services map[string]struct {
			Image       string
			Build       struct{ Context, Dockerfile string }
			Command     []string
			Environment map[string]string
			Volumes     []string
			Secrets     []string
			Healthcheck struct{ Test []string }
			DependsOn   any  `yaml:"depends_on"`
			ReadOnly    bool `yaml:"read_only"`
		}
		Volumes map[string]any
		Secrets map[string]struct{ Environment string }
	}
	readYAML(t, "../../deploy/compose.yaml", &compose)
	var own struct {
		Listen, Admin string
		AdminToken    string `yaml:"admin_token"`
		Store         struct{ Kind, URL, Secret string }
	}
	readYAML(t, "../../deploy/laconic.yaml", &own)
	var prometheus struct {
		ScrapeConfigs []struct {
			MetricsPath   string `yaml:"metrics_path"`
			Authorization struct {
				CredentialsFile string `yaml:"credentials_file"`
			}
			StaticConfigs []struct{ Targets []string } `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
	}
	readYAML(t, "../../deploy/prometheus.yml", &prometheus)

	for name, s := range compose.Services {
		for _, v := range s.Volumes {
			from, _, _ := strings.Cut(v, ":")
			if _, known := compose.Volumes[from]; known {
				continue
			}
			if _, err := os.Stat(filepath.Join("../../deploy", from)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, secret := range s.Secrets {
			if _, known := compose.Secrets[secret]; !known {
				t.Errorf("%s: there is no secret %s", name, secret)
			}
		}
	}
	laconic := compose.Services["laconic"]
	if _, err := os.Stat(filepath.Join("../../deploy", laconic.Build.Context, laconic.Build.Dockerfile)); err != nil || !laconic.ReadOnly {
		t.Errorf("%+v: %v", laconic, err)
	}
	if _, known := compose.Services["redis"]; !known || own.Store.Kind != "redis" || !strings.HasPrefix(own.Store.URL, "redis://redis:6379") {
		t.Errorf("the store is %+v", own.Store)
	}
	_, port, _ := net.SplitHostPort(own.Admin)
	scrape := prometheus.ScrapeConfigs[0]
	if targets := scrape.StaticConfigs[0].Targets; !slices.Equal(targets, []string{"laconic:" + port}) || scrape.MetricsPath != "/metrics" {
		t.Errorf("Prometheus scrapes %s of %v, the admin address is %s", scrape.MetricsPath, targets, own.Admin)
	}
	secrets := compose.Services["prometheus"].Secrets
	if file := scrape.Authorization.CredentialsFile; len(secrets) != 1 || file != "/run/secrets/"+secrets[0] || compose.Secrets[secrets[0]].Environment != "LACONIC_ADMIN_TOKEN" {
		t.Errorf("Prometheus has the token of %s, and the secrets %v", file, secrets)
	}

	// The configuration is checked in the environment that the service has.
	environ := []string{}
	for name, value := range laconic.Environment {
		if regexp.MustCompile(`\$\{\w+:\?`).MatchString(value) {
			value = strings.Repeat("x1y2z3", 4)
		}
		environ = append(environ, name+"="+regexp.MustCompile(`\$\{\w+:-(.*)\}`).ReplaceAllString(value, "$1"))
	}
	here := func(args []string) []string {
		args = slices.Clone(args)
		for i := range args {
			args[i] = strings.Replace(args[i], "/etc/laconic", "../../deploy", 1)
		}
		return args
	}
	check := exec.Command(rig.Command(t), "check", "../../deploy/laconic.yaml")
	check.Env = environ
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	for _, args := range [][]string{laconic.Command, laconic.Healthcheck.Test[2:]} {
		help := exec.Command(rig.Command(t), append(here(args), "--help")...)
		if out, err := help.CombinedOutput(); err != nil || !strings.Contains(string(out), "--config") {
			t.Errorf("%v: %v: %s", args, err, out)
		}
	}
	// Nobody listens here: it must say so, and not that its configuration is wrong.
	health := exec.Command(rig.Command(t), append(here(laconic.Healthcheck.Test[2:]), "--admin", storetest.FreeAddress(t))...)
	health.Env = environ
	if out, _ := health.CombinedOutput(); health.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "connection refused") {
		t.Errorf("%v: %s", health.Args, out)
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
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// TestTheServiceIsOneThatSystemdTakes verifies deploy/laconic.service with the
// binary in the place of the one that would be installed.
func TestTheServiceIsOneThatSystemdTakes(t *testing.T) {
	text, err := os.ReadFile("../../deploy/laconic.service")
	if err != nil {
		t.Fatal(err)
	}
	const start = "\nExecStart=laconic" // by hand it is installed elsewhere than by a package
	if !strings.Contains(string(text), start+" serve --config ") {
		t.Error("it does not run laconic serve from where it is installed")
	}
	if !strings.Contains(string(text), "\nExecReload=/bin/kill -HUP $MAINPID\n") {
		t.Error("systemctl reload does not read the configuration again")
	}
	manual, err := os.ReadFile("../../docs/redis.md")
	if err != nil {
		t.Fatal(err)
	}
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
