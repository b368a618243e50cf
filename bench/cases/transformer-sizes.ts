/** Sizes of the transformer, the same in all runtimes. */
export const TRANSFORMER = { batch: 8, length: 64, width: 128, heads: 4, hidden: 512, tokens: 64 };
