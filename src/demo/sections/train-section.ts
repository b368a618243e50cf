import { wrap } from 'comlink';
import type { Profile, Tensor } from '../../client/index.ts';
import { seededRandom } from '../../core/random.ts';
import type { DemoContext } from '../demo-context.ts';
import { DigitTrainer } from '../digits/digit-trainer.ts';
import type { DigitWriter } from '../digits/digit-writer-worker.ts';
import {
  EMPTY_COURSE,
  HELD_OUT,
  type TrainingCourse,
  TRAINING_STEPS,
  TrainingRun,
} from '../digits/training-run.ts';
import { type DigitReader, TRAINING_BATCH } from '../digits/digit-parameters.ts';
import { byId, showFacts } from '../element.ts';
import { formatMs } from '../../core/format-quantity.ts';
import { KeptSession } from '../kept-session.ts';
import { LinePlot } from './line-plot.ts';
import { modelUrl } from '../open-session.ts';
import { ProgramSection } from './program-section.ts';
import { formatPercent } from './probability-bars.ts';

const TITLE = 'digit-training.weft';
/** The cross entropy of a network that knows nothing is ln 10. */
const TOP_LOSS = 2.4;
const PROFILE_EVERY_MS = 5000;
/** Figures change so often at most: nobody reads more, and what the browser draws takes time from the training. */
const SHOW_EVERY_MS = 250;

/** The note that a snapshot has beside the parameters. */
interface TrainingNote {
  readonly steps: number;
  readonly seed: number;
  readonly course: TrainingCourse;
}

/** Trains the digit network from random weights, also while another tab is looked at, and hands it to the first one. */
export class TrainSection extends ProgramSection {
  readonly #offer: (reader: DigitReader) => Promise<void>;
  readonly #play = byId('train-play', HTMLButtonElement);
  readonly #facts = byId('train-facts', HTMLElement);
  readonly #loss = new LinePlot({
    title: 'Loss (cross entropy)',
    steps: TRAINING_STEPS,
    top: TOP_LOSS,
    format: (value) => value.toFixed(value < 0.1 ? 3 : 2),
  });
  readonly #accuracy = new LinePlot({
    title: 'Digits it never saw, read right',
    steps: TRAINING_STEPS,
    top: 1,
    format: formatPercent,
  });
  readonly #kept = new KeptSession(modelUrl(TITLE), 'digit-training');
  #trainer: DigitTrainer | undefined;
  #run: TrainingRun | undefined;
  #seed = 1;
  #isTraining = false;
  #profiledAt = -Infinity;
  #shownAt = -Infinity;
  #lastStepMs: number | undefined;
  /** Steps and resets, one after the other. */
  #last: Promise<void> = Promise.resolve();

  /** `offer` gets the network each time it can read better than before. */
  constructor(context: DemoContext, offer: (reader: DigitReader) => Promise<void>) {
    super(context, TITLE);
    this.#offer = offer;
    byId('train-plots', HTMLElement).append(this.#loss.root, this.#accuracy.root);
    this.#play.addEventListener('click', () => this.#setTraining(!this.#isTraining));
    byId('train-reset', HTMLButtonElement).addEventListener('click', () => this.#reset());
  }

  protected override async load(): Promise<void> {
    const session = await this.#kept.open((text) => showFacts(this.#facts, [['', text]]));
    this.session = session;
    this.context.showDevice(session.device);
    const trainer = new DigitTrainer(session, seededRandom(this.#seed));
    this.#trainer = trainer;
    const run = new TrainingRun(trainer, digitWriter());
    this.#run = run;
    if (session.resumed !== undefined) {
      const note = JSON.parse(session.resumed.note) as TrainingNote;
      await trainer.restore(note.steps, session.resumed);
      this.#seed = note.seed;
      run.course = note.course;
      this.context.announce(`The training goes on at step ${trainer.steps}.`);
      this.#offerReader();
    }
    await this.#kept.keep(session, {
      contents: () => {
        const note: TrainingNote = { steps: trainer.steps, seed: this.#seed, course: run.course };
        return { tensors: trainer.tensors, note: JSON.stringify(note) };
      },
      onError: (error) => this.context.fail(error),
    });
    this.#play.disabled = run.isOver;
    if (run.isOver) this.#isTraining = false;
    this.#play.textContent = this.#playLabel;
    this.#show();
    // Whoever pressed the button while the network was loaded has waited since; else it moves by itself.
    const mayMove = !matchMedia('(prefers-reduced-motion: reduce)').matches;
    if (this.#isTraining) this.#continue();
    else if (mayMove && this.isOpen && !run.isOver) this.#setTraining(true);
  }

  #setTraining(training: boolean): void {
    if (training === this.#isTraining) return;
    this.#isTraining = training;
    this.#play.textContent = this.#playLabel;
    this.#play.setAttribute('aria-pressed', String(training));
    if (training) this.#continue();
  }

  get #playLabel(): string {
    if (this.#isTraining) return 'Pause';
    return (this.#trainer?.steps ?? 0) === 0 ? 'Train' : 'Go on';
  }

  #reset(): void {
    this.#setTraining(false);
    this.#enqueue(async () => {
      this.#seed++;
      await this.#trainer?.reset(seededRandom(this.#seed));
      if (this.#run !== undefined) this.#run.course = EMPTY_COURSE;
      this.#lastStepMs = undefined;
      this.#play.disabled = false;
      this.#play.textContent = this.#playLabel;
      this.#show();
    });
  }

  #continue(): void {
    this.#enqueue(async () => {
      const run = this.#run;
      if (!this.#isTraining || run === undefined) {
        this.#show();
        return;
      }
      const started = performance.now();
      const isProfiled = this.isOpen && started - this.#profiledAt > PROFILE_EVERY_MS;
      let profile: Profile | undefined;
      await run.advance(isProfiled ? (found) => (profile = found) : undefined);
      const now = performance.now();
      this.#lastStepMs = now - started;
      if (profile !== undefined || run.isOver || now - this.#shownAt >= SHOW_EVERY_MS) {
        this.#shownAt = now;
        await this.#showProfile(profile);
        this.#show();
      }
      if (run.isOver) this.#finish();
      else this.#continue();
    });
  }

  async #showProfile(profile: Profile | undefined): Promise<void> {
    const session = this.session;
    if (!this.isOpen || session === undefined || profile === undefined) return;
    this.#profiledAt = performance.now();
    await this.context.machine.showProfile(session, profile);
  }

  #finish(): void {
    this.#setTraining(false);
    this.#play.disabled = true;
    this.#offerReader();
    this.context.announce(`The training is over. ${this.#outcome ?? ''}`);
  }

  get #outcome(): string | undefined {
    const reached = this.#run?.course.reached;
    if (reached === undefined) return undefined;
    const right = Math.round(reached * HELD_OUT).toLocaleString('en');
    return `It reads ${right} of ${HELD_OUT.toLocaleString('en')} digits right that it never saw.`;
  }

  #offerReader(): void {
    const [session, trainer] = [this.session, this.#trainer];
    if (session === undefined || trainer === undefined) return;
    const read = (image: Tensor) => trainer.read(image);
    const profile = (image: Tensor) => trainer.profile(image);
    this.#offer({ session, title: TITLE, read, profile }).catch((error: unknown) =>
      this.context.fail(error),
    );
  }

  #enqueue(task: () => Promise<void>): void {
    this.#last = this.#last.then(task).catch((error: unknown) => {
      this.#setTraining(false);
      this.context.fail(error);
    });
  }

  #show(): void {
    const course = this.#run?.course ?? EMPTY_COURSE;
    const steps = this.#trainer?.steps ?? 0;
    this.#loss.show(course.loss);
    this.#accuracy.show(course.accuracy);
    showFacts(this.#facts, [
      ['Steps', `${steps} of ${TRAINING_STEPS}`],
      ['Digits seen', (steps * TRAINING_BATCH).toLocaleString('en')],
      ['Last step', formatMs(this.#lastStepMs)],
      ...(this.#outcome === undefined ? [] : [['Result', this.#outcome] as const]),
    ]);
  }
}

function digitWriter() {
  return wrap<DigitWriter>(
    new Worker(new URL('../digits/digit-writer-worker.ts', import.meta.url), { type: 'module' }),
  );
}
