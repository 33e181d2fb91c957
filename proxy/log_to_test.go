package proxy_test

import (
	"laconic/proxy"
	"laconic/proxy/logging"
)

func init() { proxy.LogTo = logging.To }
