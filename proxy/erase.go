package proxy

import (
	"context"
	"errors"

	"laconic/proxy/access"
)

// ErrNoClient: no client key has that name.
var ErrNoClient = errors.New("no client key has this name")

// EraseClient erases what is kept of the holder of a client key, by the name of the
// key. See Erase.
func (p *Proxy) EraseClient(ctx context.Context, name string) (summaries int, err error) {
	s := p.settings.Load()
	for i, key := range s.ClientKeys {
		if s.keyName(i) == name {
			return p.Erase(ctx, key)
		}
	}
	return 0, ErrNoClient
}

// Erase removes the summaries of all conversations that came with a credential, and
// all texts that are remembered of them here: a client's key as it sends it, behind
// Bearer where it is one, or the value of the first header that holds a credential.
// "" stands for requests without any. What was learnt of upstreams stays: it holds
// nothing of a conversation. It returns how many summaries were stored. With an
// error some may be left, and the same again removes them; with summarize.ErrUntold
// other processes that share the store may remember some.
func (p *Proxy) Erase(ctx context.Context, credential access.Secret) (summaries int, err error) {
	return p.summaries.Erase(ctx, string(credential))
}

// owner returns what the client is known by, as access.ClientKeys.Owner says.
func (x *exchange) owner() string {
	if x.ownedBy == nil {
		owner := x.settings.keys.Owner(x.r.Header)
		x.ownedBy = &owner
	}
	return *x.ownedBy
}
