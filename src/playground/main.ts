import { once } from '../core/once.ts';
import { wrap } from 'comlink';
import type { PASS_NAMES } from '../frontend/index.ts';
import type { compileProgram } from './compile-program.ts';
import type { ProgramEditor } from './editor.ts';
import { type Example, EXAMPLES } from './examples.ts';
import { decodeProgram, encodeProgram } from './share-link.ts';

const PASS_LINES: Readonly<Record<(typeof PASS_NAMES)[number], string>> = {
  'bind-dims': 'puts numbers in place of sizes that are given',
  'infer-types': 'gives each expression its type',
  'expand-compositions': 'replaces composed operators by what they are made of',
  'expand-training': 'writes losses and optimisers out in other operators',
  inline: 'puts small functions where they are called',
  'name-unknown-dims': 'gives unknown sizes a name',
  gradient: 'writes derivatives as functions',
  'to-graph': 'makes nodes of each let that need not stand where it is',
  'choose-layouts': 'takes transposes between convolutions away',
  'fold-constants': 'computes what depends on constants alone',
  simplify: 'x + 0, x * 1, a transpose of a transpose',
  'recognize-operators': 'finds norms, GELU and attention in smaller operators',
  'widen-float16': 'computes in float32 what may leave the range of float16',
  'fold-affine-into-weights': 'moves scales and shifts into weights',
  'dispatch-by-shape': 'makes clones for intervals of sizes',
  'eliminate-common-subexpressions': 'computes equal expressions once',
  'assign-devices': 'chooses the device that takes less time',
  'place-devices': 'puts on the host what the device cannot run',
  fuse: 'makes one kernel of neighbouring operators',
  'to-anf': 'binds each value where it is computed',
  'lower-match': 'tests one constructor at a time',
  'allocate-adt-tags': 'numbers the constructors of each type',
  'tail-calls': 'turns last calls into jumps',
  'lambda-lift': 'makes closures global, with what they capture as parameters',
  'split-tuples': 'reads all fields of a tuple at once, and drops it',
  rematerialize: 'computes values again rather than keeping them',
  'plan-memory': 'lets values share memory',
  'lower-shapes': 'makes sizes a part of the program',
  liveness: 'drops each value after its last use',
};

function byId<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (found instanceof type) return found;
  throw new Error(`internal: playground.html has no ${type.name} with id ${id}`);
}

const runButton = byId('run', HTMLButtonElement);
const choice = byId('example', HTMLSelectElement);
const input = byId('arguments', HTMLInputElement);
const status = byId('status', HTMLElement);
const result = byId('result', HTMLElement);
const passList = byId('passes', HTMLElement);
const types = byId('types', HTMLElement);
const bytecode = byId('bytecode', HTMLElement);

let editor: ProgramEditor | undefined;
let isRunning = false;

async function open(): Promise<void> {
  choice.append(...EXAMPLES.map(({ title }) => new Option(title, title)));
  const [first] = EXAMPLES;
  const linked = await decodeProgram(location.hash);
  const given = linked ?? first;
  if (given === undefined) throw new Error('internal: there are no examples');
  const { ProgramEditor } = await import('./editor.ts');
  editor = new ProgramEditor(byId('editor', HTMLElement), {
    text: given.program,
    onRun: () => void run(),
  });
  input.value = given.input;
  runButton.disabled = false;
  // Whoever made the link may be anybody: it runs when its reader says so.
  if (linked === undefined) await run();
  else status.textContent = 'From a link. Read it, then run it.';
}

function show(example: Example): void {
  if (editor !== undefined) editor.text = example.program;
  input.value = example.input;
  void run();
}

/** The compiler, in a worker: what a program takes to compile does not hold the page. */
const startCompiler = once(() =>
  wrap<typeof compileProgram>(
    new Worker(new URL('./compile-worker.ts', import.meta.url), { type: 'module' }),
  ),
);

/** The compiler and the session load with the first run. */
async function run(): Promise<void> {
  if (editor === undefined || isRunning) return;
  isRunning = true;
  runButton.disabled = true;
  status.textContent = 'Compiling …';
  result.classList.remove('wrong');
  result.textContent = '';
  try {
    const compiled = await startCompiler()(editor.text);
    types.textContent = compiled.types;
    bytecode.textContent = compiled.bytecode;
    passList.replaceChildren(...compiled.passes.map(passElement));
    status.textContent = 'Running …';
    const { runProgram } = await import('./run-program.ts');
    result.textContent = await runProgram(compiled.bytes, input.value);
    status.textContent = 'Done.';
  } catch (error) {
    result.classList.add('wrong');
    result.textContent = error instanceof Error ? error.message : String(error);
    status.textContent = 'See the result.';
  } finally {
    isRunning = false;
    runButton.disabled = false;
  }
}

/** A pass with a line about it, which opens to the lines that it took away and added. */
function passElement({ pass, difference }: { pass: string; difference: string }): HTMLElement {
  const details = document.createElement('details');
  const summary = document.createElement('summary');
  const line = document.createElement('span');
  line.textContent = (PASS_LINES as Readonly<Record<string, string>>)[pass] ?? '';
  summary.append(pass, line);
  const lines = document.createElement('pre');
  lines.tabIndex = 0;
  for (const line of difference.trimEnd().split('\n')) {
    const span = document.createElement('span');
    span.textContent = `${line}\n`;
    if (line.startsWith('-')) span.className = 'removed';
    if (line.startsWith('+')) span.className = 'added';
    lines.append(span);
  }
  details.append(summary, lines);
  return details;
}

async function share(): Promise<void> {
  if (editor === undefined) return;
  history.replaceState(null, '', await encodeProgram({ program: editor.text, input: input.value }));
  try {
    await navigator.clipboard.writeText(location.href);
    status.textContent = 'The link is copied.';
  } catch {
    status.textContent = 'The link is in the address bar.';
  }
}

runButton.addEventListener('click', () => void run());
byId('share', HTMLButtonElement).addEventListener('click', () => void share());
input.addEventListener('keydown', ({ key }) => {
  if (key === 'Enter') void run();
});
choice.addEventListener('change', () => {
  const example = EXAMPLES.find(({ title }) => title === choice.value);
  if (example !== undefined) show(example);
});
open().catch((error: unknown) => {
  status.textContent = error instanceof Error ? error.message : String(error);
});
