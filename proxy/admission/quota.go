package admission

import (
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"laconic/number"
	"laconic/proxy/apierror"
)

// Quota is what the holder of one client key may use; 0: any number. Tokens are those
// of prompts and answers. A day begins at midnight UTC.
type Quota struct {
	RequestsPerMinute, TokensPerMinute, TokensPerDay int
}

// Quotas count what clients use, in this process. Nothing is reserved for a request
// whose tokens are not known yet: the client is refused once it has used up what it
// may, so requests that run at once may exceed it by their own cost. The zero value
// has counted nothing. It is safe for concurrent use.
type Quotas struct {
	mu  sync.Mutex
	all map[string]*used
}

// mostRemembered bounds of how many clients it is remembered what they have used. There
// are fewer client keys; of addresses there may be more.
const mostRemembered = 10_000

// used is what one client has used.
type used struct {
	most             Quota
	requests, tokens *rate.Limiter
	day              time.Time
	today            int // tokens
}

// of returns what a client has used. Rates that were changed begin anew.
func (q *Quotas) of(client string, most Quota, now time.Time) *used {
	u := q.all[client]
	if u == nil || u.most != most {
		perMinute := func(n int) *rate.Limiter { return rate.NewLimiter(rate.Limit(float64(n)/60), n) }
		next := &used{most: most, requests: perMinute(most.RequestsPerMinute), tokens: perMinute(most.TokensPerMinute)}
		if u != nil {
			next.day, next.today = u.day, u.today
		}
		if q.all == nil || len(q.all) >= mostRemembered {
			q.all = map[string]*used{}
		}
		u, q.all[client] = next, next
	}
	if day := now.UTC().Truncate(24 * time.Hour); !day.Equal(u.day) {
		u.day, u.today = day, 0
	}
	return u
}

// Take counts a request of a client, or returns the answer to one that is too many.
func (q *Quotas) Take(client string, most Quota, now time.Time) *apierror.Error {
	q.mu.Lock()
	defer q.mu.Unlock()
	u := q.of(client, most, now)
	switch left := u.tokens.TokensAt(now); {
	case most.TokensPerDay > 0 && u.today >= most.TokensPerDay:
		no := exceeded(apierror.CodeBudget, u.day.Add(24*time.Hour).Sub(now), number.Count(most.TokensPerDay, "token")+" a day")
		no.Hint, no.NoRetry = "The day ends at midnight UTC. Whoever runs the proxy can raise the limit.", true
		return no
	case most.TokensPerMinute > 0 && left < 1:
		return exceeded(apierror.CodeRate, until(u.tokens, left), number.Count(most.TokensPerMinute, "token")+" per minute")
	case most.RequestsPerMinute > 0 && !u.requests.AllowN(now, 1):
		return exceeded(apierror.CodeRate, until(u.requests, u.requests.TokensAt(now)), number.Count(most.RequestsPerMinute, "request")+" per minute")
	}
	return nil
}

// Spend counts the tokens of a request that is over.
func (q *Quotas) Spend(client string, most Quota, tokens int, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	u := q.of(client, most, now)
	u.today += tokens
	for burst := u.tokens.Burst(); tokens > 0 && burst > 0; tokens -= burst {
		u.tokens.ReserveN(now, min(tokens, burst)) // what is not there is owed
	}
}

// until returns the time until a limiter with so much left has one.
func until(l *rate.Limiter, left float64) time.Duration {
	return time.Duration((1 - left) / float64(l.Limit()) * float64(time.Second))
}

func exceeded(code string, wait time.Duration, limit string) *apierror.Error {
	return &apierror.Error{
		Status: http.StatusTooManyRequests, Code: code, RetryAfter: max(wait, time.Second),
		Message: "This client key has used its " + limit + ".",
		Hint:    "Send the request again after the time in Retry-After, or ask whoever runs the proxy for a higher limit.",
		Detail:  limit,
	}
}
