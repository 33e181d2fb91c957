package proxy

import (
	"time"

	"laconic/proxy/admission"
	"laconic/proxy/apierror"
)

// Quota is what the holder of a client key may use.
type Quota = admission.Quota

// takeQuota counts the request for the client key that it came with, before anything is
// read of its body, or returns why it is refused.
func (x *request) takeQuota() *apierror.Error {
	i := x.settings.keys.Index(x.r.Header)
	if i < 0 {
		x.client = admission.ClientAt(x.r.RemoteAddr)
		return nil
	}
	key := &x.settings.ClientKeys[i]
	x.client = string(x.settings.keys[i][:]) // the same under all settings
	x.info.Client, x.quota = key.Name, &key.Quota
	return x.p.quotas.Take(x.client, key.Quota, x.start)
}

// spend counts the tokens of a request that is over: those of the answer's usage,
// or the prompt by our count where a prompt was sent and no usage came.
func (x *request) spend() {
	if x.quota == nil {
		return
	}
	tokens := 0
	switch i := &x.info; {
	case i.Usage != nil:
		tokens = i.Usage.Prompt + i.Usage.Completion
	case i.Rewrite != nil && !i.Unsent && (i.Status < 400 || i.Status == StatusClientLeft):
		tokens = i.Rewrite.Report.After
	}
	x.p.quotas.Spend(x.client, *x.quota, tokens, time.Now())
}
