//! A dashboard as Grafana imports it: schema 39, plain values, by the rules of Grafana's dashboard-linter.

use serde_json::{Value, json};

use super::model::{Dashboard, Panel, Query, Row, View};

/// The file's text.
pub fn text(dashboard: &Dashboard) -> String {
    format!("{:#}\n", value(dashboard))
}

/// The dashboard as JSON.
pub fn value(dashboard: &Dashboard) -> Value {
    json!({
        "uid": dashboard.uid,
        "title": dashboard.title,
        "description": dashboard.about,
        "tags": ["tcpwin"],
        "schemaVersion": 39,
        "version": 1,
        "editable": false,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": { "from": "now-1h", "to": "now" },
        "timezone": "browser",
        "annotations": { "list": [] },
        "links": [{
            "type": "dashboards", "tags": ["tcpwin"], "title": "tcpwin", "asDropdown": true,
            "includeVars": true, "keepTime": true,
        }],
        "templating": { "list": [
            datasource_variable(),
            label_variable("job", "Job", "label_values(tcpwin_build_info, job)"),
            label_variable("instance", "Instance", "label_values(tcpwin_build_info{job=~\"$job\"}, instance)"),
        ]},
        "panels": panels(&dashboard.rows),
    })
}

fn datasource_variable() -> Value {
    json!({
        "name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus",
        "current": {}, "hide": 0, "includeAll": false, "multi": false, "options": [], "refresh": 1, "regex": "",
    })
}

fn label_variable(name: &str, label: &str, query: &str) -> Value {
    json!({
        "name": name, "label": label, "type": "query", "datasource": datasource(),
        "definition": query, "query": { "query": query, "refId": name },
        "allValue": ".+", "includeAll": true, "multi": true,
        "current": { "selected": true, "text": ["All"], "value": ["$__all"] },
        "hide": 0, "options": [], "refresh": 2, "regex": "", "sort": 1,
    })
}

fn datasource() -> Value {
    json!({ "type": "prometheus", "uid": "${datasource}" })
}

/// Rows and panels in one list, placed from left to right and top to bottom.
fn panels(rows: &[Row]) -> Vec<Value> {
    let mut list = Vec::new();
    let mut y = 0;
    for row in rows {
        let id = list.len() + 1;
        list.push(json!({
            "id": id, "type": "row", "title": row.title, "collapsed": false, "panels": [],
            "gridPos": { "x": 0, "y": y, "w": 24, "h": 1 },
        }));
        y += 1;
        let (mut x, mut tallest) = (0, 0);
        for panel in &row.panels {
            let (width, height) = panel.view.size();
            if x + width > 24 {
                (x, y, tallest) = (0, y + tallest, 0);
            }
            let place = json!({ "x": x, "y": y, "w": width, "h": height });
            list.push(panel_value(list.len() + 1, panel, &place));
            x += width;
            tallest = tallest.max(height);
        }
        y += tallest;
    }
    list
}

fn panel_value(id: usize, panel: &Panel, place: &Value) -> Value {
    let targets: Vec<Value> = panel
        .queries
        .iter()
        .zip('A'..)
        .map(|(query, name)| target(query, name, panel.view))
        .collect();
    json!({
        "id": id,
        "type": kind(panel.view),
        "title": panel.title,
        "description": panel.about,
        "datasource": datasource(),
        "gridPos": place,
        "fieldConfig": {
            "defaults": { "unit": panel.unit, "min": 0, "custom": custom(panel.view) },
            "overrides": colours(panel),
        },
        "options": options(panel),
        "targets": targets,
    })
}

const fn kind(view: View) -> &'static str {
    match view {
        View::Stat => "stat",
        View::Lines | View::Stacked => "timeseries",
        View::Bars => "bargauge",
    }
}

fn target(query: &Query, name: char, view: View) -> Value {
    json!({
        "refId": name.to_string(),
        "datasource": datasource(),
        "editorMode": "code",
        "expr": query.expr(),
        "legendFormat": query.legend,
        "instant": view.is_instant(),
        "range": !view.is_instant(),
    })
}

fn custom(view: View) -> Value {
    let (fill, stacking) = match view {
        View::Stat | View::Bars => return json!({}),
        View::Lines => (5, "none"),
        View::Stacked => (60, "normal"),
    };
    json!({
        "drawStyle": "line", "lineWidth": 1, "fillOpacity": fill, "showPoints": "never",
        "stacking": { "group": "A", "mode": stacking },
    })
}

fn options(panel: &Panel) -> Value {
    let newest = json!({ "calcs": ["lastNotNull"], "fields": "", "values": false });
    // One value of one series speaks for itself, unless its labels are what is asked for.
    let has_labels = panel.queries.iter().any(|query| query.legend.contains("{{"));
    let text = if has_labels { "value_and_name" } else { "value" };
    match panel.view {
        View::Stat => json!({
            "reduceOptions": newest, "colorMode": "value", "graphMode": "none", "justifyMode": "auto",
            "orientation": "auto", "textMode": text,
        }),
        View::Bars => json!({
            "reduceOptions": newest, "displayMode": "basic", "orientation": "horizontal", "showUnfilled": true,
        }),
        View::Lines | View::Stacked => json!({
            "legend": {
                "calcs": ["mean", "max"], "displayMode": "table", "placement": "right", "showLegend": true,
            },
            "tooltip": { "mode": "multi", "sort": "desc" },
        }),
    }
}

/// A class has the same colour wherever it is shown; told apart by colour-blind people too (Okabe and Ito).
fn colours(panel: &Panel) -> Vec<Value> {
    let by_bound = panel.queries.iter().any(|query| query.legend == "{{bound}}");
    if !by_bound {
        return Vec::new();
    }
    let colour = |(name, colour): (&str, &str)| {
        json!({
            "matcher": { "id": "byName", "options": name },
            "properties": [{ "id": "color", "value": { "mode": "fixed", "fixedColor": colour } }],
        })
    };
    let classes = [
        ("window", "#E69F00"),
        ("bandwidth", "#0072B2"),
        ("loss", "#D55E00"),
        ("app", "#009E73"),
        ("host", "#CC79A7"),
        ("unknown", "#999999"),
    ];
    classes.map(colour).to_vec()
}
