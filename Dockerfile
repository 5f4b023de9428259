# The image holds the static binary, and that which follows a cluster for it, and runs
# without privileges.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o /clbemu ./cmd/clbemu && mkdir /data
RUN cd deploy && CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o /clbemu-worldwatch ./worldwatch

FROM scratch
COPY --from=build /clbemu /clbemu
COPY --from=build /clbemu-worldwatch /clbemu-worldwatch
COPY --from=build --chown=65532:65532 /data /data
USER 65532:65532
VOLUME /data
EXPOSE 9600
# The control API listens inside the container only; give it an address and a
# token (CLBEMU_CONTROL_LISTEN, CLBEMU_CONTROL_TOKEN) to reach it from outside.
ENV CLBEMU_LISTEN=0.0.0.0:9600 CLBEMU_DATA_DIR=/data
ENTRYPOINT ["/clbemu"]
CMD ["serve"]
