import { followed, placeOf } from "livegrad/live/address.js";
import { enhance } from "./tables.js";

// What every page does once it has been read: its tables sort and filter, and a link to a place leads there, also where
// something stands behind the name of the place.
document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll(".sortable").forEach(enhance);
  const isReached = (place) => place === document.querySelector(":target");
  followed(placeOf, (place) => isReached(place) || place.scrollIntoView()).look();
});
