// The BDP picture: every window against what the path can hold, on one scale; as in the detail of `tcpwin top`.

import { element } from "./dom.js";
import { bits, bytes, percent, rtt } from "./text.js";

/** How many BDPs the picture is wide: what is longer carries a mark, or a large buffer would make all others invisible. */
const WIDE = 2;

/** The section, or what is missing for it. */
export function bdpPicture(connection) {
  const bars = windows(connection);
  const product = bdp(connection);
  const longest = Math.max(0, ...bars.map(({ size }) => size ?? 0));
  const most = product ? Math.min(Math.max(longest, product.size), product.size * WIDE) : longest;
  if (!(most > 0)) return element("p", { class: "faint" }, "No window is known.");
  const how = product ? `BDP ${bytes(product.size)} = ${product.how}` : "No BDP without a rate and a round-trip time.";
  const head = ["", element("span", { class: "hidden" }, "against the BDP"), "bytes", "of the BDP", ""];
  return element(
    "table",
    { class: "bars" },
    element("caption", {}, how),
    element("thead", {}, element("tr", {}, head.map((name) => element("th", { scope: "col" }, name)))),
    element("tbody", {}, bars.map((bar) => line(bar, most, product?.size, connection.limit))),
  );
}

function line({ name, size, limits }, most, product, limit) {
  const known = size !== undefined;
  const binds = limits.includes(limit);
  const drawing = element("div", { class: "track", "aria-hidden": "true" });
  if (known) {
    const fill = element("div", { class: binds ? "fill binds" : "fill" });
    fill.style.width = `${Math.min(100, (size / most) * 100)}%`;
    drawing.append(fill, size > most ? element("span", { class: "beyond" }, "▶") : "");
  }
  if (product) {
    const mark = element("div", { class: "mark" });
    mark.style.left = `${(product / most) * 100}%`;
    drawing.append(mark);
  }
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, name),
    element("td", { class: "drawing" }, drawing),
    element("td", { class: "number" }, known ? bytes(size) : "not known"),
    element("td", { class: "number" }, known && product ? percent(size / product) : ""),
    element("td", {}, binds ? element("strong", {}, "binds") : ""),
  );
}

/** Bandwidth-delay product and where its bandwidth comes from. */
function bdp({ tcp, next, limit, ceiling_bps, rate_bps, direction }) {
  const us = tcp.min_rtt_us || tcp.srtt_us;
  if (!us) return null;
  const path = limit === "bandwidth" ? ceiling_bps : next?.limit === "bandwidth" ? next.rate_bps : undefined;
  // The kernel's delivery rate is of what this side sends.
  const delivered = direction === "send" ? (tcp.delivery_rate_bps ?? 0) : 0;
  const rate = path ?? Math.max(delivered, rate_bps);
  if (!(rate > 0)) return null;
  const whence = path === undefined ? "the best rate seen: the path may carry more" : "what the path carries";
  return { size: Math.ceil((rate / 8) * (us / 1e6)), how: `${bits(rate)} × ${rtt(us)} (${whence})` };
}

/** A window or what is in it, and the limits it stands for. */
function windows({ tcp, direction }) {
  const cwnd = tcp.cwnd === undefined || tcp.mss === undefined ? undefined : tcp.cwnd * tcp.mss;
  return direction === "send"
    ? [
        { name: "sndbuf", size: tcp.sndbuf_bytes, limits: ["sndbuf"] },
        { name: "snd_wnd", size: tcp.snd_wnd_bytes, limits: ["rwnd", "rwnd_scale", "rwnd_reader"] },
        { name: "cwnd × mss", size: cwnd, limits: ["cwnd_startup", "cwnd_clamp", "loss"] },
        { name: "in flight", size: tcp.in_flight_bytes, limits: [] },
        { name: "unsent", size: tcp.unsent_bytes, limits: [] },
      ]
    : [
        { name: "rcvbuf", size: tcp.rcvbuf_bytes, limits: ["rcvbuf"] },
        { name: "rcv_wnd", size: tcp.rcv_wnd_bytes, limits: ["reader"] },
        { name: "unread", size: tcp.unread_bytes, limits: [] },
      ];
}
