package store

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// TLSFiles say how a server is reached by TLS; all may be empty.
type TLSFiles struct {
	CA         string `json:"ca,omitempty"`   // of the authority that the server's certificate is from; "": those of the system
	Cert       string `json:"cert,omitempty"` // the client's own certificate
	Key        string `json:"key,omitempty"`
	ServerName string `json:"server_name,omitempty"` // that the server's certificate has to be for; "": the host of the URL
}

// Config returns what a client does by TLS. The client's certificate is read again for
// each connection, so that one that was renewed is used. The error names a file by
// what it is for.
func (f TLSFiles) Config() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: f.ServerName}
	if f.CA == "" {
		_, _ = x509.SystemCertPool() // is read once, which may take longer than Patience
	} else {
		pem, err := os.ReadFile(f.CA)
		if err != nil {
			return nil, fmt.Errorf("ca cannot be read: %w", pathless(err))
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, errors.New("ca holds no certificate in PEM")
		}
	}
	if (f.Cert == "") != (f.Key == "") {
		return nil, errors.New("cert and key belong together, and one of them is missing")
	}
	if f.Cert != "" {
		load := func() (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
			if err != nil {
				return nil, fmt.Errorf("cert and key cannot be used: %w", pathless(err))
			}
			return &pair, nil
		}
		if _, err := load(); err != nil {
			return nil, err
		}
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return load() }
	}
	return c, nil
}

// dialer returns what connects to servers by TLS, with the handshake within Patience.
func dialer(c *tls.Config) func(ctx context.Context, network, addr string) (net.Conn, error) {
	d := &tls.Dialer{NetDialer: &net.Dialer{Timeout: Patience}, Config: c}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := d.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return secureConn{conn.(*tls.Conn)}, nil
	}
}

// secureConn is a connection by TLS that shows its socket. The client's pool sees by it
// that a server has closed an idle connection, before it sends a command there.
type secureConn struct{ *tls.Conn }

func (c secureConn) SyscallConn() (syscall.RawConn, error) {
	return c.NetConn().(syscall.Conn).SyscallConn() // TCP and Unix sockets have one
}
