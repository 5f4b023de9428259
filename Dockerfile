# The image holds the static binary, the one for replicas, and the one that follows a cluster,
# and runs without privileges. It is compiled where it is built, for where it is to run:
#   docker buildx build --platform linux/amd64,linux/arm64 --tag clbemu .
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS TARGETARCH VERSION=devel COMMIT DATE
ENV CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH
RUN package=github.com/clbemu/clbemu/cmd/internal/command && \
    set -- -trimpath -ldflags "-s -w -X $package.release=$VERSION -X $package.commit=$COMMIT -X $package.date=$DATE" && \
    go build "$@" -o /clbemu ./cmd/clbemu && go -C cmd/clbemu-replica build "$@" -o /clbemu-replica . && mkdir /data
RUN cd deploy && go build -trimpath -ldflags "-s -w" -o /clbemu-worldwatch ./worldwatch

FROM scratch
ARG VERSION=devel COMMIT
LABEL org.opencontainers.image.title="clbemu" \
      org.opencontainers.image.description="A local emulator of Alibaba Cloud's load balancers, CLB and NLB" \
      org.opencontainers.image.source="https://github.com/clbemu/clbemu" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$COMMIT"
COPY --from=build /clbemu /clbemu
COPY --from=build /clbemu-replica /clbemu-replica
COPY --from=build /clbemu-worldwatch /clbemu-worldwatch
COPY --from=build --chown=65532:65532 /data /data
USER 65532:65532
VOLUME /data
EXPOSE 9600 9601
# The token of the control API is made at the first start, unless CLBEMU_CONTROL_TOKEN gives one,
# and the log has the address of the console with it.
ENV CLBEMU_LISTEN=0.0.0.0:9600 CLBEMU_CONTROL_LISTEN=0.0.0.0:9601 CLBEMU_CONTROL_TOKEN_FILE=/data/control-token CLBEMU_DATA_DIR=/data
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --start-interval=1s CMD ["/clbemu", "wait", "--for", "ready", "--timeout", "4s"]
ENTRYPOINT ["/clbemu"]
CMD ["serve"]
