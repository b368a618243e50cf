import { sha256 } from '@noble/hashes/sha2.js';
import type { ExecutableData } from '../../bytecode/executable.ts';
import { hashedHead, readHeader } from '../../bytecode/file/file-head.ts';
import { parseHead } from '../../bytecode/text/parse-head.ts';
import { UsageError } from '../../core/errors.ts';
import { collapseScopes, type Scope, scopesOf, type ShownGraph } from '../graph/collapse-scopes.ts';
import { type Layout, layoutGraph } from '../graph/layout-graph.ts';
import { nodeHeight, nodeWidth } from '../graph/node-size.ts';
import { type MemoryUse, memoryUse } from '../../bytecode/memory/memory-use.ts';
import { type FunctionCode, functionCode } from './function-code.ts';
import { type ProgramGraph, programGraph } from './program-graph.ts';

/** A program as its inspector shows it first. */
export interface ProgramSummary {
  /** Names of its functions, `main` first. */
  readonly functions: readonly string[];
  readonly kernelCount: number;
  readonly constantBytes: number;
}

export interface LaidOutGraph {
  readonly graph: ProgramGraph;
  readonly scopes: readonly Scope[];
  readonly shown: ShownGraph;
  readonly layout: Layout;
  /** The time that the layout took here. */
  readonly layoutMs: number;
}

/** The work of the inspector's worker on a program: all that would block a page. */
export class ProgramService {
  #program: ExecutableData | undefined;
  readonly #graphs = new Map<string, ProgramGraph>();

  /** Takes the head of a `.weft` file: all of it but the data section. Throws FormatError or VerifyError. */
  open(head: Uint8Array): ProgramSummary {
    const { program } = parseHead(head, readHeader(head), sha256(hashedHead(head)));
    this.#program = program;
    this.#graphs.clear();
    const names = program.functions.map(({ name }) => name);
    return {
      functions: names.toSorted((a, b) => Number(b === 'main') - Number(a === 'main')),
      kernelCount: program.primitives.length,
      constantBytes: program.dataByteLength,
    };
  }

  /** The graph of a function, with scopes drawn as one node each. */
  layout(functionName: string, collapsed: readonly string[]): LaidOutGraph {
    const graph = this.#graph(functionName);
    const shown = collapseScopes(graph, new Set(collapsed));
    const begin = performance.now();
    const layout = layoutGraph({
      widths: Float32Array.from(shown.nodes, nodeWidth),
      heights: Float32Array.from(shown.nodes, nodeHeight),
      edges: Uint32Array.from(shown.edges.flat()),
    });
    const layoutMs = performance.measure('weft-layout', { start: begin }).duration;
    return { graph, scopes: scopesOf(graph), shown, layout, layoutMs };
  }

  /** The bytecode of a function, with the kernels that it calls. */
  code(functionName: string): FunctionCode {
    return functionCode(this.#opened(), functionName);
  }

  /** The memory that a function holds along its instructions, with numbers for symbols of its inputs. */
  memory(
    functionName: string,
    sizes: readonly (readonly [symbol: string, size: number])[],
  ): MemoryUse | undefined {
    return memoryUse(this.#opened(), functionName, new Map(sizes));
  }

  #graph(functionName: string): ProgramGraph {
    const known = this.#graphs.get(functionName);
    if (known !== undefined) return known;
    const graph = programGraph(this.#opened(), functionName);
    this.#graphs.set(functionName, graph);
    return graph;
  }

  #opened(): ExecutableData {
    if (this.#program !== undefined) return this.#program;
    throw new UsageError('The inspector has no program yet.');
  }
}
