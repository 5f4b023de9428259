{{- define "clbemu.selector" -}}
app.kubernetes.io/name: clbemu
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "clbemu.labels" -}}
{{ include "clbemu.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "clbemu.secret" -}}
{{ .Values.existingSecret | default .Release.Name }}
{{- end }}

{{- /* The settings that the chart makes of its other values, and those of the user. */}}
{{- define "clbemu.settings" -}}
{{- $hosts := printf "%s,%s.%s,*.%s-replicas,*.svc,*.svc.cluster.local" .Release.Name .Release.Name .Release.Namespace .Release.Name }}
{{- $settings := dict "allowed-host" $hosts }}
{{- if .Values.world }}{{ $_ := set $settings "world" "/etc/clbemu/world.yaml" }}{{ end }}
{{- if .Values.faults }}{{ $_ := set $settings "faults" "/etc/clbemu/faults.yaml" }}{{ end }}
{{- merge (deepCopy .Values.settings) $settings | toYaml }}
{{- end }}
