package store

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// TLSFiles say how a server is reached by TLS; all may be empty.
type TLSFiles struct {
	CA         string // of the authority that the server's certificate is from; "": those of the system
	Cert, Key  string // the client's own certificate
	ServerName string // that the server's certificate has to be for; "": the host of the URL
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

// pathless returns an error without the path of its file, which may come from the
// environment.
func pathless(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// traffic counts.
type traffic struct {
	operations, failed [counted]atomic.Uint64
	sent, received     atomic.Uint64
}

// dialer returns what connects to servers, by TLS if c is not nil, and counts bytes.
func (t *traffic) dialer(c *tls.Config) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		d := net.Dialer{Timeout: Patience, KeepAlive: time.Minute}
		conn, err := d.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		counted := &countedConn{Conn: conn, t: t}
		if c == nil {
			return counted, nil
		}
		own := c.Clone()
		if own.ServerName == "" {
			own.ServerName, _, _ = net.SplitHostPort(addr)
		}
		return handshaken(ctx, counted, own)
	}
}

// handshaken returns a connection by TLS after its handshake, within Patience.
func handshaken(ctx context.Context, under *countedConn, c *tls.Config) (net.Conn, error) {
	ctx, stop := context.WithTimeout(ctx, Patience)
	defer stop()
	conn := tls.Client(under, c)
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return &secureConn{conn, under}, nil
}

// secureConn is a connection by TLS that shows the socket below: see
// countedConn.SyscallConn.
type secureConn struct {
	*tls.Conn
	under *countedConn
}

func (c *secureConn) SyscallConn() (syscall.RawConn, error) { return c.under.SyscallConn() }

// countedConn counts the bytes of a connection.
type countedConn struct {
	net.Conn
	t *traffic
}

func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.t.received.Add(uint64(n))
	return n, err
}

func (c *countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.t.sent.Add(uint64(n))
	return n, err
}

// SyscallConn shows the socket. By it the client's pool sees that a server has closed
// an idle connection, and makes another one, before it sends a command there that
// would fail.
func (c *countedConn) SyscallConn() (syscall.RawConn, error) {
	s, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported // unreachable: TCP and Unix sockets have one
	}
	return s.SyscallConn()
}
