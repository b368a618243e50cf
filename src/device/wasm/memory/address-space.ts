/** Bytes of a page of WebAssembly's memory. */
export const PAGE = 65_536;

/** Pages of the largest memory with 32-bit addresses: 4 GiB. */
export const MOST_PAGES = 65_536;

/** All buffers together, in bytes, where addresses have 32 bits; the last page stays free, so that no sum of addresses wraps. */
export const MAX_BYTE_LENGTH = (MOST_PAGES - 2) * PAGE;
