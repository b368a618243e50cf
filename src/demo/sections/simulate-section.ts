import type { Session, SnapshotContents } from '../../client/index.ts';
import { seededRandom } from '../../core/random.ts';
import type { DemoContext } from '../demo-context.ts';
import {
  addDrop,
  Dish,
  DISH_SIZE,
  type DishNote,
  paintDish,
  type Pattern,
  PATTERNS,
  restoreDish,
} from './dish.ts';
import { byId, context2d, element, showFacts } from '../element.ts';
import { formatMs } from '../../core/format-quantity.ts';
import { KeptSession, type Resumed } from '../kept-session.ts';
import { describeLeft, enable, Moves } from '../move/moves.ts';
import type { Destination, Movable, Parcel } from '../move/parcel.ts';
import { modelUrl, openSession } from '../open-session.ts';
import { ProgramSection } from './program-section.ts';

const TITLE = 'reaction-diffusion.weft';
const FIRST_DROPS = 14;
const PROFILE_EVERY_MS = 3000;
/** Delay before the code that stores snapshots is loaded: the program is to move first. */
const KEEP_AFTER_MS = 1000;

const BUTTONS = ['dish-play', 'dish-step', 'dish-reset', 'dish-move', 'dish-send'];

/** A simulation whose loop is bytecode; the page only asks for steps and paints. */
export class SimulateSection extends ProgramSection implements Movable {
  readonly section = 'simulate';
  readonly #canvas = byId('dish', HTMLCanvasElement);
  readonly #picture = context2d(this.#canvas);
  readonly #play = byId('dish-play', HTMLButtonElement);
  readonly #steps = byId('dish-steps', HTMLInputElement);
  readonly #facts = byId('dish-facts', HTMLElement);
  readonly #random = seededRandom(7);
  readonly #kept = new KeptSession(modelUrl(TITLE), 'reaction-diffusion');
  readonly #patterns = byId('dish-pattern', HTMLSelectElement);
  readonly #moves: Moves;
  #keeping = new AbortController();
  #dish: Dish | undefined;
  /** The step at which the page was closed before. */
  #resumedAt: number | undefined;
  #pattern: Pattern = PATTERNS[0] ?? { name: '', feed: 0, kill: 0 };
  /** Reagent that waits for the next run. */
  #spot: Float32Array | undefined;
  /** The runs so far; the next one waits for them, for the state is passed on from run to run. */
  #last: Promise<void> = Promise.resolve();
  #isPlaying = false;
  /** True if the simulation was playing when it was packed. */
  #wasPlaying = false;
  #profiledAt = -Infinity;

  constructor(context: DemoContext) {
    super(context, TITLE);
    this.#play.addEventListener('click', () => {
      if (this.#keeping.signal.aborted && this.session === undefined) void this.comeBack();
      else this.#setPlaying(!this.#isPlaying);
    });
    byId('dish-step', HTMLButtonElement).addEventListener('click', () => {
      this.#setPlaying(false);
      this.#enqueue(() => this.#tick(this.#stepsPerRun, true));
    });
    byId('dish-reset', HTMLButtonElement).addEventListener('click', () => this.#reset());
    this.#steps.addEventListener('input', () => {
      byId('dish-steps-value', HTMLElement).textContent = this.#steps.value;
    });
    this.#moves = new Moves('dish', this, context);
    this.#listPatterns(this.#patterns);
    this.#listenToDrops();
  }

  override close(): void {
    super.close();
    this.#setPlaying(false);
  }

  protected override load(): Promise<void> {
    const onStatus = (text: string): void => showFacts(this.#facts, [['', text]]);
    return this.#moves.arrive(onStatus, async (arrived) => {
      if (arrived !== undefined) this.#keeping = new AbortController();
      // What is stored belongs to the tab in which it goes on.
      const hasLeft = this.#keeping.signal.aborted;
      await this.#begin(
        hasLeft
          ? await openSession(modelUrl(TITLE), onStatus)
          : await this.#kept.open(onStatus, arrived?.snapshot),
      );
    });
  }

  async comeBack(): Promise<void> {
    this.#play.disabled = true;
    this.#play.textContent = 'Play';
    await this.reopen().catch((error: unknown) => this.context.fail(error));
  }

  async #begin(session: Session | Resumed): Promise<void> {
    this.session = session;
    const dish = new Dish(session);
    this.context.showDevice(session.device);
    if (session.resumed !== undefined) {
      const { steps, pattern } = await restoreDish(dish, session.resumed);
      this.#resumedAt = steps;
      this.#patterns.selectedIndex = pattern;
      this.#pattern = PATTERNS[pattern] ?? this.#pattern;
      this.context.announce(`The simulation goes on at step ${steps}.`);
    }
    this.#dish = dish;
    if (session.resumed === undefined) this.#reset();
    else this.#enqueue(() => this.#tick(0));
    await this.showMachine();
    const mayMove = !matchMedia('(prefers-reduced-motion: reduce)').matches;
    if (mayMove && this.isOpen) this.#setPlaying(true);
    await this.#last;
    enable(BUTTONS, true);
    setTimeout(() => void this.#keep(session, dish), KEEP_AFTER_MS);
  }

  async #keep(session: Session, dish: Dish): Promise<void> {
    const { signal } = this.#keeping;
    if (signal.aborted) return;
    const onError = (error: unknown): void => this.context.fail(error);
    const contents = (): SnapshotContents => this.#contents(dish);
    await this.#kept.keep(session, { contents, onError }, signal).catch(onError);
  }

  #contents({ steps, pending, cells }: Dish): SnapshotContents {
    const note: DishNote = { steps, pending, pattern: this.#patterns.selectedIndex };
    return { tensors: cells, note: JSON.stringify(note) };
  }

  /** Stops between two runs, and stores the simulation. */
  async pack(): Promise<Parcel> {
    const [session, dish] = [this.session, this.#dish];
    if (session === undefined || dish === undefined) throw new Error('internal: no simulation');
    this.#wasPlaying = this.#isPlaying;
    this.#setPlaying(false);
    enable(BUTTONS, false);
    await this.#last;
    await session.pause();
    try {
      return { note: '', snapshot: await session.snapshot(this.#contents(dish)) };
    } finally {
      await session.continue();
    }
  }

  goOn(): void {
    enable(BUTTONS, true);
    this.#setPlaying(this.#wasPlaying);
  }

  async leave(to: Destination): Promise<void> {
    this.#keeping.abort();
    await this.session?.dispose();
    this.#dish = undefined;
    this.session = undefined;
    // The other tab goes on with what is stored.
    if (to === 'another device') await this.#kept.forget();
    this.#play.textContent = 'Begin anew';
    this.#play.disabled = false;
    this.#play.focus({ preventScroll: true });
    const text = describeLeft('The simulation', to);
    showFacts(this.#facts, [['Moved', text]]);
    this.context.announce(text);
    await this.showMachine();
  }

  get #stepsPerRun(): number {
    return Number(this.#steps.value);
  }

  #listPatterns(list: HTMLSelectElement): void {
    list.append(...PATTERNS.map(({ name }) => element('option', {}, name)));
    list.addEventListener('change', () => {
      this.#pattern = PATTERNS[list.selectedIndex] ?? this.#pattern;
    });
  }

  #listenToDrops(): void {
    const drop = (event: PointerEvent): void => {
      if (event.type === 'pointermove' && event.buttons === 0) return;
      const box = this.#canvas.getBoundingClientRect();
      this.#addDrop(
        ((event.clientX - box.left) / box.width) * DISH_SIZE,
        ((event.clientY - box.top) / box.height) * DISH_SIZE,
      );
    };
    this.#canvas.addEventListener('pointerdown', drop);
    this.#canvas.addEventListener('pointermove', drop);
    this.#canvas.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter') return;
      event.preventDefault();
      this.#addDrop(this.#random() * DISH_SIZE, this.#random() * DISH_SIZE);
      this.context.announce('Dropped reagent.');
    });
  }

  #addDrop(x: number, y: number): void {
    this.#spot ??= new Float32Array(DISH_SIZE * DISH_SIZE);
    addDrop(this.#spot, x, y);
    if (!this.#isPlaying) this.#enqueue(() => this.#tick(0));
  }

  #reset(): void {
    this.#enqueue(async () => {
      this.#dish?.reset();
      this.#resumedAt = undefined;
      const spot = new Float32Array(DISH_SIZE * DISH_SIZE);
      for (let i = 0; i < FIRST_DROPS; i++) {
        addDrop(spot, this.#random() * DISH_SIZE, this.#random() * DISH_SIZE);
      }
      this.#spot = spot;
      await this.#tick(0);
    });
  }

  #setPlaying(playing: boolean): void {
    if (playing === this.#isPlaying) return;
    this.#isPlaying = playing;
    this.#play.textContent = playing ? 'Pause' : 'Play';
    this.#play.setAttribute('aria-pressed', String(playing));
    if (playing) this.#continue();
  }

  #continue(): void {
    this.#enqueue(async () => {
      if (!this.#isPlaying) return;
      await this.#tick(this.#stepsPerRun);
      requestAnimationFrame(() => this.#continue());
    });
  }

  #enqueue(task: () => Promise<void>): void {
    this.#last = this.#last.then(task).catch((error: unknown) => {
      this.#setPlaying(false);
      this.context.fail(error);
    });
  }

  async #tick(steps: number, profiled = false): Promise<void> {
    const dish = this.#dish;
    const session = this.session;
    if (dish === undefined || session === undefined) return;
    const started = performance.now();
    if (this.#spot !== undefined) {
      const spot = this.#spot;
      this.#spot = undefined;
      await dish.drop(spot);
    }
    const isDue = profiled || started - this.#profiledAt > PROFILE_EVERY_MS;
    if (steps > 0 && isDue) await this.#profile(session, dish, steps);
    else if (steps > 0) await dish.advance(steps, this.#pattern);
    paintDish(this.#picture, await dish.read());
    const elapsedMs = performance.now() - started;
    const resumedAt = this.#resumedAt?.toLocaleString('en');
    showFacts(this.#facts, [
      ['Steps so far', dish.steps.toLocaleString('en')],
      ...(resumedAt === undefined ? [] : [['Went on at', `step ${resumedAt}`] as const]),
      ['Last run', `${steps} steps, ${formatMs(elapsedMs)} with the picture`],
    ]);
  }

  async #profile(session: Session, dish: Dish, steps: number): Promise<void> {
    const profile = await dish.advanceProfiled(steps, this.#pattern);
    this.#profiledAt = performance.now();
    await this.context.machine.showProfile(session, profile);
  }
}
