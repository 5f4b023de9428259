# The image holds one static binary, that of clbemu-replica, which is clbemu with etcd's client,
# and runs without privileges. The one that follows a cluster has an image of its own, the
# target worldwatch. They are compiled where they are built, for where they are to run:
#   docker buildx build --platform linux/amd64,linux/arm64 --tag clbemu .
#   docker buildx build --target worldwatch --tag clbemu-worldwatch .
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS TARGETARCH VERSION=devel COMMIT DATE
ENV CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH
RUN package=github.com/clbemu/clbemu/cmd/internal/command && \
    set -- -trimpath -tags grpcnotrace -ldflags "-s -w -X $package.release=$VERSION -X $package.commit=$COMMIT -X $package.date=$DATE" && \
    go -C cmd/clbemu-replica build "$@" -o /clbemu-replica . && mkdir /data
RUN cd deploy && go build -trimpath -ldflags "-s -w" -o /clbemu-worldwatch ./worldwatch

FROM scratch AS worldwatch
ARG VERSION=devel COMMIT
LABEL org.opencontainers.image.title="clbemu-worldwatch" \
      org.opencontainers.image.description="Brings the nodes and pods of a cluster into clbemu" \
      org.opencontainers.image.source="https://github.com/clbemu/clbemu" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$COMMIT"
COPY --from=build /clbemu-worldwatch /clbemu-worldwatch
USER 65532:65532
ENTRYPOINT ["/clbemu-worldwatch"]

FROM scratch
ARG VERSION=devel COMMIT
LABEL org.opencontainers.image.title="clbemu" \
      org.opencontainers.image.description="A local emulator of Alibaba Cloud's load balancers, CLB and NLB" \
      org.opencontainers.image.source="https://github.com/clbemu/clbemu" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$COMMIT"
COPY --from=build /clbemu-replica /clbemu
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
