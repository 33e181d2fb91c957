package proxy

import "go.uber.org/zap"

// LogTo is logging.To, which imports this package: log_to_test.go sets it.
var LogTo func(*zap.Logger) Listener
