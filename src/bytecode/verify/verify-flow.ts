import { VerifyError } from '../../core/errors.ts';
import { brokenRule } from './broken-rule.ts';

/** The part of an instruction that the flow analysis needs. Numbers of instructions count from 0. */
export interface FlowInstruction {
  /** Registers read, then the register written or -1. */
  readonly reads: readonly number[];
  readonly write: number;
  /** Slots of the shape heap that it makes; -1 when it makes none. */
  readonly heapSlots: number;
  /** Registers that must hold shape heaps of at least so many slots. */
  readonly heapUses: readonly HeapUse[];
  readonly next: readonly number[];
}

export interface HeapUse {
  readonly register: number;
  readonly slots: number;
}

interface FlowContext {
  readonly paramCount: number;
  readonly registerCount: number;
  /** Describes an instruction for messages. */
  readonly place: (instruction: number) => string;
  readonly budget: FlowBudget;
}

/**
 * The steps left for flow analysis. A register that lives through many blocks costs one step per
 * block; a file made to be slow would need billions.
 */
export class FlowBudget {
  #steps = 2 ** 24;

  spend(where: string): void {
    if (--this.#steps >= 0) return;
    throw new VerifyError({
      where,
      got: 'a control flow with too many registers living through too many blocks',
      expected: 'at most 2^24 steps of analysis for an executable',
      remedy: 'Split the function.',
    });
  }
}

/** A read of a register before its own block writes it. */
interface ExposedRead {
  readonly block: number;
  readonly instruction: number;
  /** Slots that the shape heap in the register must have; -1 for another read. */
  readonly slots: number;
}

interface RegisterFacts {
  readonly exposed: ExposedRead[];
  /** Blocks that write the register: the slots of the heap that it holds at their end, or -1. */
  readonly writers: Map<number, number>;
}

interface Block {
  readonly first: number;
  readonly last: number;
  readonly predecessors: number[];
  reachable: boolean;
}

/**
 * Checks that on every path a register is written before it is read, and that a shape heap has the
 * slots that are used of it. For each register that a block reads without having written it, walks
 * backwards from there to the blocks that write it; reaching the entry means an unwritten register.
 * Unreachable code is not analysed. Throws VerifyError.
 */
export function verifyFlow(instructions: readonly FlowInstruction[], context: FlowContext): void {
  const blocks = buildBlocks(instructions);
  const registers = collectFacts(instructions, blocks, context);
  const visited = new Int32Array(blocks.length).fill(-1);
  let walk = 0;
  for (const [register, { exposed, writers }] of registers) {
    const isParam = register < context.paramCount;
    const plainWalk = walk++;
    for (const read of exposed) {
      if (read.slots < 0 && isParam) continue;
      const search = { register, writers, visited, stamp: read.slots < 0 ? plainWalk : walk++ };
      walkBack(read, search, { blocks, context });
    }
  }
}

function walkBack(
  read: ExposedRead,
  search: { register: number; writers: Map<number, number>; visited: Int32Array; stamp: number },
  { blocks, context }: { blocks: readonly Block[]; context: FlowContext },
): void {
  const { register, writers, visited, stamp } = search;
  const place = context.place(read.instruction);
  const work = [read.block];
  visited[read.block] = stamp;
  for (let current = work.pop(); current !== undefined; current = work.pop()) {
    if (current === 0) reportUnwritten(register, read, { place, context });
    for (const predecessor of blocks[current]?.predecessors ?? []) {
      context.budget.spend(place);
      const slots = writers.get(predecessor);
      if (slots !== undefined) {
        if (read.slots >= 0) checkHeap({ register, slots: read.slots }, slots, place);
      } else if (visited[predecessor] !== stamp) {
        visited[predecessor] = stamp;
        work.push(predecessor);
      }
    }
  }
}

function reportUnwritten(
  register: number,
  read: ExposedRead,
  { place, context }: { place: string; context: FlowContext },
): never {
  if (register < context.paramCount) checkHeap({ register, slots: read.slots }, -1, place);
  throw brokenRule(
    place,
    `register %${register}, which is not written on every path to here`,
    'a parameter or the result of a call on every path',
  );
}

function checkHeap({ register, slots }: HeapUse, available: number, place: string): void {
  if (available < 0) {
    throw brokenRule(
      place,
      `register %${register} as a shape heap`,
      'the result of vm.builtin.alloc_shape_heap in this function, on every path',
    );
  }
  if (slots > available) {
    throw brokenRule(
      place,
      `slot ${slots - 1} of the shape heap %${register}`,
      `a slot below ${available}, its size`,
    );
  }
}

function buildBlocks(instructions: readonly FlowInstruction[]): Block[] {
  const isLeader = new Uint8Array(instructions.length + 1);
  isLeader[0] = 1;
  for (const [index, { next }] of instructions.entries()) {
    if (next.length === 1 && next[0] === index + 1) continue;
    isLeader[index + 1] = 1;
    for (const target of next) isLeader[target] = 1;
  }
  const blocks: Block[] = [];
  const blockOf = new Int32Array(instructions.length);
  let first = 0;
  for (let index = 0; index < instructions.length; index++) {
    blockOf[index] = blocks.length;
    if (isLeader[index + 1] !== 1 && index + 1 < instructions.length) continue;
    blocks.push({ first, last: index, predecessors: [], reachable: false });
    first = index + 1;
  }
  connect(instructions, blocks, blockOf);
  return blocks;
}

/** Marks what the entry reaches, and records predecessors among that only. */
function connect(
  instructions: readonly FlowInstruction[],
  blocks: readonly Block[],
  blockOf: Int32Array,
): void {
  const work = [0];
  const [entry] = blocks;
  if (entry !== undefined) entry.reachable = true;
  for (let current = work.pop(); current !== undefined; current = work.pop()) {
    for (const target of instructions[blocks[current]?.last ?? -1]?.next ?? []) {
      const successor = blockOf[target] ?? 0;
      const block = blocks[successor];
      if (block === undefined) continue;
      block.predecessors.push(current);
      if (!block.reachable) work.push(successor);
      block.reachable = true;
    }
  }
}

function collectFacts(
  instructions: readonly FlowInstruction[],
  blocks: readonly Block[],
  context: FlowContext,
): Map<number, RegisterFacts> {
  const facts = new Map<number, RegisterFacts>();
  const factsOf = (register: number): RegisterFacts => {
    const known = facts.get(register);
    if (known !== undefined) return known;
    const fresh: RegisterFacts = { exposed: [], writers: new Map() };
    facts.set(register, fresh);
    return fresh;
  };
  // The block that last wrote, or last had an exposed read of, a register: one array for all blocks.
  const writtenIn = new Int32Array(context.registerCount).fill(-1);
  const exposedIn = new Int32Array(context.registerCount).fill(-1);
  for (const [block, { first, last, reachable }] of blocks.entries()) {
    if (!reachable) continue;
    for (let index = first; index <= last; index++) {
      const instruction = instructions[index];
      if (instruction === undefined) continue;
      for (const register of instruction.reads) {
        if (writtenIn[register] === block || exposedIn[register] === block) continue;
        exposedIn[register] = block;
        factsOf(register).exposed.push({ block, instruction: index, slots: -1 });
      }
      for (const use of instruction.heapUses) {
        const known = writtenIn[use.register] === block;
        if (!known) {
          const { exposed } = factsOf(use.register);
          exposed.push({ block, instruction: index, slots: use.slots });
        } else {
          const slots = factsOf(use.register).writers.get(block) ?? -1;
          checkHeap(use, slots, context.place(index));
        }
      }
      if (instruction.write < 0) continue;
      writtenIn[instruction.write] = block;
      factsOf(instruction.write).writers.set(block, instruction.heapSlots);
    }
  }
  return facts;
}
