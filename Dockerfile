# Two stages: the second holds the binary and the certificates, nothing else. It
# needs no folder to write to: docker run --read-only --cap-drop ALL.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o /laconic .

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /laconic /laconic
USER 65532:65532
EXPOSE 7280
ENTRYPOINT ["/laconic"]
# There is no shell and no curl: the binary asks its own admin address.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["/laconic", "healthcheck"]
# Inside a container loopback reaches nobody: listen on all of its addresses and
# let the port mapping decide who may come in.
CMD ["serve", "--listen", "0.0.0.0:7280"]
