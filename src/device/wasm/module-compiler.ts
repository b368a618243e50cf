import { internalError } from '../../core/errors.ts';
import { encodeModule, type FunctionGroup } from '../../wasm/encode-module.ts';
import { CompilationLog } from '../device-events.ts';
import type { ThreadPool } from './threads/thread-pool.ts';
import type { WasmCode } from './wasm-code.ts';
import { MOST_PAGES } from './memory/address-space.ts';
import { storageByteLength } from '../../core/tensor/dtype.ts';
import type { ConcreteTensorType } from '../../core/contracts/primitive-function.ts';
import { elementCount } from '../../core/tensor/shape.ts';

/** A function that was compiled, with ways to give it to threads. */
export interface LoadedCode {
  readonly run: WasmCode;
  /** Gives it to threads, with all of its module; its number there. */
  readonly share: () => number;
  /** The code, for threads that have memories of their own. */
  readonly source: CodeSource;
}

/** A function by its index in a module. */
interface CodeSource {
  readonly module: WebAssembly.Module;
  readonly index: number;
}

interface ModuleCompilerOptions {
  readonly memory: WebAssembly.Memory;
  readonly threads: ThreadPool | undefined;
  /** Adds products by relaxed SIMD, in one instruction. */
  readonly isRelaxed: boolean;
  readonly checks: MemoryChecks | undefined;
}

/** Makes functions over one memory of groups of code, whose last function is the one to call. */
export class ModuleCompiler {
  readonly log = new CompilationLog('wasm');
  readonly #options: ModuleCompilerOptions;

  constructor(options: ModuleCompilerOptions) {
    this.#options = options;
  }

  /** Without holding the thread while the engine compiles. */
  async compile(groups: readonly FunctionGroup[]): Promise<readonly LoadedCode[]> {
    if (groups.length === 0) return [];
    const bytes = this.#encode(groups);
    const beginMs = performance.now();
    const module = await WebAssembly.compile(bytes);
    return this.#instantiate(module, { bytes, count: groups.length, beginMs });
  }

  compileNow(groups: readonly FunctionGroup[]): readonly LoadedCode[] {
    if (groups.length === 0) return [];
    const bytes = this.#encode(groups);
    const beginMs = performance.now();
    const module = new WebAssembly.Module(bytes);
    return this.#instantiate(module, { bytes, count: groups.length, beginMs });
  }

  #encode(groups: readonly FunctionGroup[]): Uint8Array<ArrayBuffer> {
    const { checks, isRelaxed, threads } = this.#options;
    const beginMs = performance.now();
    const shared = threads !== undefined;
    const memory = { minimum: 1, maximum: MOST_PAGES, shared };
    const bytes = encodeModule({ groups, isRelaxed, isChecked: checks !== undefined, memory });
    this.log.add(`write ${groups.length} functions`, beginMs);
    return bytes;
  }

  #instantiate(
    module: WebAssembly.Module,
    {
      bytes,
      count,
      beginMs,
    }: { readonly bytes: Uint8Array; readonly count: number; readonly beginMs: number },
  ): readonly LoadedCode[] {
    const { checks, memory, threads } = this.#options;
    this.log.add(`compile ${count} functions`, beginMs);
    const compiledMs = performance.now();
    const { exports } = new WebAssembly.Instance(module, {
      env: { memory, ...(checks && { check: checks.check }) },
    });
    this.log.add(`instantiate ${count} functions`, compiledMs);
    let first: number | undefined;
    const load = (): number => (first ??= threads?.load(bytes, count) ?? 0);
    return Array.from({ length: count }, (_, i) => {
      const code = exports[i];
      if (typeof code !== 'function') throw internalError(`a module without function ${i}`);
      return { run: code as WasmCode, share: () => load() + i, source: { module, index: i } };
    });
  }
}

/** Ranges that the running step may access. With checks on, each load and store calls `check`. */
export class MemoryChecks {
  /** The begin and the end of each range, one range after the other. */
  readonly #ranges: number[] = [];
  count = 0;

  /** Allows no range any more. */
  clear(): void {
    this.#ranges.length = 0;
  }

  /** Address 0 is no buffer's. */
  allow(address: number, byteLength: number): void {
    if (address === 0) return;
    this.#ranges.push(address, address + byteLength);
  }

  allowTensor(address: number | undefined, type: ConcreteTensorType | undefined): void {
    if (address === undefined || type === undefined) return;
    this.allow(address, storageByteLength(type.dtype, elementCount(type.shape)));
  }

  /** A pack, which may access what it makes. */
  around(pack: WasmCode, byteLength: number): WasmCode {
    return (from = 0, to = 0) => {
      this.allow(to, byteLength);
      pack(from, to);
    };
  }

  /** Called by modules: gives the address back, or throws. */
  readonly check = (address: number, offset: number, byteLength: number): number => {
    this.count++;
    const begin = (address >>> 0) + (offset >>> 0);
    const ranges = this.#ranges;
    for (let i = 0; i < ranges.length; i += 2) {
      if (begin >= (ranges[i] ?? 0) && begin + byteLength <= (ranges[i + 1] ?? 0)) return address;
    }
    throw internalError(`${byteLength} bytes at ${begin}, outside the ranges ${ranges.join()}`);
  };
}
