# The image of a release: goreleaser has built the binary before.
FROM golang:1.26 AS certificates

FROM scratch
ARG TARGETPLATFORM
COPY --from=certificates /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY $TARGETPLATFORM/laconic /laconic
COPY .tools/THIRD_PARTY_NOTICES /THIRD_PARTY_NOTICES
USER 65532:65532
EXPOSE 7280
ENTRYPOINT ["/laconic"]
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["/laconic", "healthcheck"]
CMD ["serve", "--listen", "0.0.0.0:7280"]
