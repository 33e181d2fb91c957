{{/* The labels that select pods of a component: dict "root" $ "component" NAME. */}}
{{- define "laconic.selector" -}}
app.kubernetes.io/name: laconic
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "laconic.labels" -}}
{{ include "laconic.selector" . }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{/* The seconds of 90s or 5m, the only forms that values.schema.json takes. */}}
{{- define "laconic.seconds" -}}
{{- if hasSuffix "m" . }}{{ mul 60 (trimSuffix "m" . | int) }}{{ else }}{{ trimSuffix "s" . | int }}{{ end -}}
{{- end }}

{{/* The configuration: that of the values, and the store. */}}
{{- define "laconic.config" -}}
{{- $config := deepCopy .Values.config }}
{{- if .Values.redis.enabled }}
{{- $store := dict "kind" "redis" "url" (printf "redis://%s-redis:6379/0" .Release.Name) "password" "${LACONIC_STORE_PASSWORD}" "secret" "${LACONIC_STORE_SECRET}" }}
{{- $_ := set $config "store" (merge (dict) (get $config "store" | default dict) $store) }}
{{- end }}
{{- toYaml $config }}
{{- end }}
