# Two stages: the second holds the binary and the certificates, nothing else. It
# needs no folder to write to: docker run --read-only --cap-drop ALL.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=0.1.0-dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X laconic/cli.release=$VERSION" -o /laconic . && deploy/notices /THIRD_PARTY_NOTICES

FROM scratch
ARG VERSION=0.1.0-dev
LABEL org.opencontainers.image.title=laconic org.opencontainers.image.version=$VERSION org.opencontainers.image.licenses=MIT
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /laconic /THIRD_PARTY_NOTICES /
USER 65532:65532
EXPOSE 7280
ENTRYPOINT ["/laconic"]
# There is no shell and no curl: the binary asks its own admin address.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["/laconic", "healthcheck"]
# Inside a container loopback reaches nobody: listen on all of its addresses and
# let the port mapping decide who may come in.
CMD ["serve", "--listen", "0.0.0.0:7280"]
