// The table's columns: what stands in a cell, and by which field of the filter language the agent sorts it.

import { bits, gain, rtt, span } from "./text.js";
import { boundOf, chip, limitText, shown } from "./words.js";

/** `wide`: left out where there is little room. `address`: not broken where there is more. `up`: the natural order rises. */
export const COLUMNS = [
  { name: "held by", sort: "limit", up: true, cell: limit },
  { name: "peer", sort: "peer", up: true, address: true, cell: ({ peer }) => peer },
  { name: "local", sort: "local", up: true, wide: true, address: true, cell: ({ local }) => local },
  { name: "process", sort: "proc", up: true, wide: true, cell: ({ process }) => (process ? `${process.name} ${process.pid}` : "") },
  { name: "way", sort: "dir", up: true, wide: true, cell: ({ direction }) => (direction === "send" ? "out" : "in") },
  { name: "rate", sort: "rate", number: true, cell: ({ rate_bps }) => bits(rate_bps) },
  { name: "gain", sort: "gain", number: true, cell: (connection) => gain(connection.gain) },
  { name: "next", sort: "next", up: true, wide: true, cell: ({ next, gain: factor }) => (next && factor ? next.limit : "") },
  { name: "rtt", sort: "rtt", number: true, wide: true, cell: ({ tcp }) => rtt(tcp.srtt_us) },
  { name: "age", sort: "age", number: true, wide: true, cell: ({ age_us }) => span(age_us / 1e6) },
];

/** What of each connection the table needs. */
export const FIELDS = [
  "id", "netns", "local", "peer", "direction", "process", "limit", "prevailing.limit", "rate_bps", "gain", "next.limit",
  "age_us", "tcp.srtt_us",
].join(",");

function limit(connection) {
  const name = shown(connection);
  const made = chip(boundOf(name), name);
  made.title = limitText(name);
  return made;
}
