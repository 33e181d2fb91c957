package binary

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"laconic/e2e/rig"
)

// pairOf makes a certificate for this machine, with a serial number to know it
// by, and its key, in PEM.
func pairOf(t *testing.T, serial int64) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
}

// mount writes a pair into a folder of its own and has the link ..data lead to
// it in one step, as Kubernetes mounts secrets.
func mount(t *testing.T, dir, name string, cert, key []byte) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
		t.Fatal(err)
	}
	rig.WriteFile(t, filepath.Join(dir, name, "tls.crt"), string(cert))
	rig.WriteFile(t, filepath.Join(dir, name, "tls.key"), string(key))
	link := filepath.Join(dir, "..data_tmp")
	if err := os.Symlink(name, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(link, filepath.Join(dir, "..data")); err != nil {
		t.Fatal(err)
	}
}

// TestTLSThroughTheBinary: HTTP/2 to a client that trusts the certificate, and
// certificates that are replaced while it runs.
func TestTLSThroughTheBinary(t *testing.T) {
	t.Parallel()
	next := make(chan bool)
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 3 {
			_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":\"%d\"}}]}\n\n", i)
			_ = http.NewResponseController(w).Flush()
			<-next
		}
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}))
	defer up.Close()
	dir := t.TempDir()
	cert, key := pairOf(t, 1)
	mount(t, dir, "..first", cert, key)
	for _, name := range []string{"tls.crt", "tls.key"} {
		if err := os.Symlink(filepath.Join("..data", name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	p := rig.Start(t, up.URL+"/v1", fmt.Sprintf("tls: {cert: %[1]s/tls.crt, key: %[1]s/tls.key}\n", dir), "--admin", "127.0.0.1:0")
	if !strings.HasPrefix(p.URL, "https://") || !strings.Contains(p.Text, `"base_url":"`+p.URL+`/v1"`) || !strings.HasPrefix(p.Admin, "http://") {
		t.Errorf("%s", p.Text)
	}

	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	res, err := (&http.Client{Transport: transport}).Post(p.URL+"/v1/chat/completions", "application/json",
		strings.NewReader(`{"model":"gpt-4o","stream":true,"messages":[{"role":"user","content":"Count."}]}`))
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(res.Body)
	for i := range 3 {
		if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, fmt.Sprintf(`"%d"`, i)) {
			t.Fatalf("%q %v", line, err)
		}
		_, _ = in.ReadString('\n')
		next <- true
	}
	if rest, err := io.ReadAll(in); err != nil || string(rest) != "data: [DONE]\n\n" || res.ProtoMajor != 2 {
		t.Errorf("HTTP/%d: %q %v", res.ProtoMajor, rest, err)
	}
	_ = res.Body.Close()

	serial := func() int64 {
		conn, err := tls.Dial("tcp", strings.TrimPrefix(p.URL, "https://"), &tls.Config{InsecureSkipVerify: true}) // whichever it is
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	// Half of a new pair is written: the old one stays, and that is said.
	second, secondKey := pairOf(t, 2)
	mount(t, dir, "..half", second, key)
	rig.Eventually(t, "a warning", func() bool { return serial() != 1 || strings.Contains(p.Output(), "the new certificate is not used") })
	if n := serial(); n != 1 {
		t.Errorf("half of a pair was taken: certificate %d", n)
	}
	rig.WriteFile(t, filepath.Join(dir, "..half", "tls.key"), string(secondKey))
	rig.Eventually(t, "the second certificate", func() bool { return serial() == 2 })
	third, thirdKey := pairOf(t, 3)
	mount(t, dir, "..third", third, thirdKey)
	rig.Eventually(t, "the third certificate", func() bool { return serial() == 3 })
	if err := os.Remove(filepath.Join(dir, "..data")); err != nil {
		t.Fatal(err)
	}
	rig.Eventually(t, "a second warning", func() bool { return serial() != 3 || strings.Count(p.Output(), "the new certificate is not used") == 2 })
	if n := serial(); n != 3 {
		t.Errorf("certificate %d without any file", n)
	}
}

// TestTLSFaultsAreNamed: a file that is missing or is no certificate is a fault
// with its place, which laconic check says.
func TestTLSFaultsAreNamed(t *testing.T) {
	dir := t.TempDir()
	cert, key := pairOf(t, 1)
	_, other := pairOf(t, 2)
	for name, b := range map[string][]byte{"a.crt": cert, "a.key": key, "b.key": other, "none": nil} {
		rig.WriteFile(t, filepath.Join(dir, name), string(b))
	}
	for _, c := range []struct{ cert, key, want string }{
		{"absent", "a.key", "1:13: tls.cert cannot be read: no such file or directory"},
		{"a.crt", "absent", "tls.key cannot be read: no such file or directory"},
		{"a.crt", "b.key", "1:13: tls.cert cannot be used: tls: private key does not match public key"},
		{"none", "a.key", "tls.cert cannot be used: tls: failed to find any PEM data in certificate input"},
		{"a.crt", "a.key", ""},
	} {
		file := filepath.Join(dir, "laconic.yaml")
		rig.WriteFile(t, file, fmt.Sprintf("tls: {cert: %s, key: %s}\n", filepath.Join(dir, c.cert), filepath.Join(dir, c.key)))
		out, err := exec.Command(rig.Command(t), "check", "--config", file).CombinedOutput()
		if (err == nil) != (c.want == "") || !strings.Contains(string(out), c.want) {
			t.Errorf("%s and %s: %v\n%s", c.cert, c.key, err, out)
		}
	}
}
