package cli

import (
	"context"
	"strings"

	"laconic/store"
)

// storeCures say what mends a fault of a store, by what its words end with.
var storeCures = []struct{ says, fix string }{
	{": NOAUTH", "set store.password, and store.username if the server has users"},
	{": WRONGPASS", "correct store.username and store.password"},
	{": NOPERM", "give the user of store.username the rights that docs/redis.md lists: ~laconic:* &laconic:* (or store.prefix) +@read +@write +@connection +@scripting +@pubsub"},
	{": READONLY", "name the master in store.url, or the sentinels that know it (redis+sentinel://)"},
	{": OOM", "raise its maxmemory, or set maxmemory-policy to allkeys-lru"},
	{": MISCONF", "it cannot write to its disk: make room there, or correct its dir"},
	{": LOADING", "wait until it has read its data"},
	{": MOVED", "it is a node of a Cluster: redis+cluster:// in store.url"},
	{": CLUSTERDOWN", "bring back the master that is missing, or set cluster-require-full-coverage no"},
	{": DENIED", "it is in protected mode: give it a password and set store.password, or bind it to an address"},
	{": it has no database of this number", "correct the database in store.url, or raise databases on the server"},
	{": it is a Cluster, which has no database of this number", "redis+cluster:// in store.url, without a database; store.prefix keeps two installations apart"},
	{": it is no Cluster", "redis:// in store.url (rediss:// if it speaks TLS)"},
	{": ERR", "see that store.password is empty where the server has none, and that it knows the command; its log says more"},
	{"no connection", "start it, or correct store.url"},
	{"no answer in time", "correct store.url (redis://, or rediss:// if it speaks TLS), or run it nearer: an answer may take 100 ms"},
	{"its name is not known", "correct the host in store.url"},
	{"its certificate is not trusted", "store.tls.ca is the authority of its certificate"},
	{"its certificate is for another name than that of store.url or store.tls.server_name", "set store.tls.server_name to a name that it is for"},
	{"(store.tls.cert)", "store.tls.cert and store.tls.key are a client's certificate from an authority that the server trusts"},
	{"no sentinel knows the master", "correct the name of the master in store.url, or ask the sentinels for it: SENTINEL MASTERS"},
	{"it does not speak TLS", "redis:// in store.url, or the port on which it does"},
	{"it ended the TLS handshake", "it may ask for a client's certificate: store.tls.cert and store.tls.key"},
	{"does it speak TLS? (rediss://)", "rediss:// in store.url if it does; else see what its log says, and whether it is a Redis at all"},
	{"the connection was closed", "see whether it speaks TLS (rediss:// in store.url), and what its log says"},
	{"the answer was not understood", "see whether it speaks TLS (rediss:// in store.url), and is a Redis at all"},
}

// checkStore asks a store that processes share for what it is used for.
func checkStore(ctx context.Context, p *patient) (all []finding) {
	if store.Kind(p.Store.Kind) != store.InRedis {
		return nil
	}
	name := store.ShownURL(p.Store.URL)
	faults, err := store.Try(ctx, storeOptions(p.Config))
	if err != nil {
		return []finding{{State: failure, Says: err.Error(), Fix: "laconic check says more"}}
	}
	for _, f := range faults {
		says := name + ": " + f.Says
		if len(f.Operations) > 0 {
			says += " (" + strings.Join(f.Operations, ", ") + ")"
		}
		all = append(all, finding{State: warning, Says: says, Fix: cureOf(f.Says)})
	}
	if all == nil {
		all = []finding{{State: fine, Says: name + " does what it is used for"}}
	}
	return all
}

// cureOf returns what mends a fault of a store.
func cureOf(says string) string {
	for _, c := range storeCures {
		if strings.HasSuffix(says, c.says) {
			return c.fix
		}
	}
	return "the word is Redis's own: its manual and its log say more"
}
