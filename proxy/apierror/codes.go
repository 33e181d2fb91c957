package apierror

// The codes of what went wrong on the way, as our errors and ReplyInfo.Code
// carry them.
const (
	CodeClientLeft    = "client_left"          // the client closed its connection
	CodeClientStalled = "client_stalled"       // the client stopped reading
	CodeUnreachable   = "upstream_unreachable" // no connection, or it broke before the whole body was sent
	CodeBroke         = "upstream_broke"       // the connection broke after the body was sent, or inside the answer
	CodeTimeout       = "upstream_timeout"     // no headers in time
	CodeIdle          = "upstream_silent"      // silence inside the answer
	CodeProtocol      = "upstream_protocol"    // an answer that is not HTTP
	CodeShutdown      = "proxy_shutting_down"
	CodeFault         = "proxy_fault"
	CodeOverloaded    = "proxy_overloaded"    // no memory for the body
	CodeRate          = "rate_limit_exceeded" // a client key used what it may in a minute
	CodeBudget        = "insufficient_quota"  // a client key used what it may in a day
)
