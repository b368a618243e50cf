/** A function of a module. Takes addresses and numbers, all i32. */
export type WasmCode = (...args: number[]) => void;
