// For those who build their monitoring from mixins: the same dashboards, rules and alerts, as they stand beside this file.
{
  grafanaDashboards+:: {
    'tcpwin-agent.json': import 'tcpwin-agent.json',
    'tcpwin-fleet.json': import 'tcpwin-fleet.json',
    'tcpwin-handshakes.json': import 'tcpwin-handshakes.json',
    'tcpwin-host.json': import 'tcpwin-host.json',
    'tcpwin-listeners.json': import 'tcpwin-listeners.json',
    'tcpwin-peers.json': import 'tcpwin-peers.json',
  },
  prometheusRules+:: std.parseYaml(importstr 'rules/recording.yaml'),
  prometheusAlerts+:: std.parseYaml(importstr 'rules/alerts.yaml'),
}
