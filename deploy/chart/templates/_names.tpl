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

{{/* The mebibytes of 512Mi, 1GiB and the like; "": another form. */}}
{{- define "laconic.mebibytes" -}}
{{- if regexMatch "^[1-9][0-9]*[MG]iB?$" . }}{{ mul (regexFind "^[0-9]+" . | int) (contains "G" . | ternary 1024 1) }}{{ end -}}
{{- end }}

{{/*
What the schema cannot say: values that contradict each other. The installation would
be taken, and not work.
*/}}
{{- define "laconic.contradictions" -}}
{{- if gt (.Values.autoscaling.min | int) (.Values.autoscaling.max | int) }}
{{- fail (printf "autoscaling.min (%v) is more than autoscaling.max (%v)" .Values.autoscaling.min .Values.autoscaling.max) }}
{{- end }}
{{- $limits := .Values.config.limits }}
{{- if le (include "laconic.seconds" $limits.drain | int) 6 }}
{{- fail (printf "config.limits.drain (%s) is over before the readiness probe has failed: it must be more than 6s" $limits.drain) }}
{{- end }}
{{- with dig "limits" "memory" "" .Values.resources }}
{{- $limit := include "laconic.mebibytes" (toString .) }}
{{- if not $limit }}
{{- fail (printf "resources.limits.memory (%v) must be whole Mi or Gi, to be compared with config.limits.memory" .) }}
{{- end }}
{{- /* As the proxy sets its own limit, and a tenth for what no collector counts. */}}
{{- $bodies := include "laconic.mebibytes" $limits.memory | int }}
{{- $need := div (add (mul (add (div (mul $bodies 6) 5) 128) 11) 9) 10 }}
{{- if lt ($limit | int64) $need }}
{{- fail (printf "resources.limits.memory (%v) is too little for config.limits.memory (%s): it must be %dMi or more" . $limits.memory $need) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Where pods may run, and where their images come from. */}}
{{- define "laconic.placement" -}}
{{- range $key := list "imagePullSecrets" "nodeSelector" "tolerations" }}
{{- with index $.Values $key }}
{{ $key }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
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
