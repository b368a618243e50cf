import { EVENTS, QUESTIONS, type SentenceForm, type Slots } from './story-forms.ts';
import { NAMES, pronounOf, STORY_WORDS } from './story-words.ts';
import { StoryWorld } from './story-world.ts';

/** A story: what happened in one line, then questions with their answers, a line each. */
export interface Story {
  readonly events: string;
  readonly questions: readonly QuestionText[];
}

interface QuestionText {
  /** `Where is Tom?` */
  readonly question: string;
  /** ` In the park.`, with the space that stands before it. */
  readonly answer: string;
}

export const storyText = ({ events, questions }: Story): string =>
  [events, ...questions.map(({ question, answer }) => question + answer)].join('\n');

type Random = () => number;
type Words = Readonly<Record<string, readonly string[]>>;

const PROPOSALS = 40;

/** The least and the most of something, both of which occur. */
export type Range = readonly [least: number, most: number];

/** How many people, places and objects a story has. */
export interface CastSizes {
  readonly people: Range;
  readonly places: Range;
  readonly objects: Range;
}

/** Few, so that they meet. */
const FEW: CastSizes = { people: [2, 4], places: [2, 3], objects: [1, 3] };

interface StoryPlan {
  readonly sentences: number;
  /** How often a question is drawn; equal ones are asked once. */
  readonly questions: number;
  /** Few of all where it is left out. */
  readonly cast?: CastSizes;
  /**
   * True if each sentence tells of one person by name; default false: also of two, or by a pronoun.
   */
  readonly isPlain?: boolean;
}

/** Writes a story. */
export function writeStory(
  random: Random,
  { sentences, questions, cast: sizes = FEW, isPlain = false }: StoryPlan,
): Story {
  for (;;) {
    const cast = chooseCast(sizes, random);
    const world = new StoryWorld();
    const scene = { cast, world, random, isPlain };
    const told = Array.from({ length: sentences }, () => write(EVENTS, scene));
    const asked = new Set<string>();
    for (let i = 0; i < questions; i++) asked.add(write(QUESTIONS, scene) ?? '');
    asked.delete('');
    if (asked.size > 0 && !told.includes(undefined)) {
      return { events: told.join(' '), questions: [...asked].map(splitQuestion) };
    }
  }
}

function splitQuestion(text: string): QuestionText {
  const end = text.indexOf('?') + 1;
  return { question: text.slice(0, end), answer: text.slice(end) };
}

function chooseCast({ people, places, objects }: CastSizes, random: Random): Words {
  const count = ([least, most]: Range): number => least + Math.floor(random() * (most - least + 1));
  return {
    ...STORY_WORDS,
    person: choose(NAMES, count(people), random),
    place: choose(STORY_WORDS.place, count(places), random),
    object: choose(STORY_WORDS.object, count(objects), random),
    container: choose(STORY_WORDS.container, 2, random),
  };
}

function choose(words: readonly string[], count: number, random: Random): string[] {
  const left = [...words];
  return Array.from({ length: count }, () =>
    left.splice(Math.floor(random() * left.length), 1),
  ).flat();
}

const pick = <T>(from: readonly T[], random: Random): T | undefined =>
  from[Math.floor(random() * from.length)];

interface Scene {
  readonly cast: Words;
  readonly world: StoryWorld;
  readonly random: Random;
  readonly isPlain: boolean;
}

/** Proposes sentences until one holds, says it of the world, and gives its text. */
function write(forms: readonly SentenceForm[], scene: Scene): string | undefined {
  const { cast, world, random } = scene;
  for (let i = 0; i < PROPOSALS; i++) {
    const form = pickForm(forms, random);
    const subject = proposeSubject(scene);
    const text = form.text.replaceAll(/\{(\w+)\}/g, (_, slot: string) =>
      slot === 'subject' ? subject : (pick(cast[slot] ?? [], random) ?? ''),
    );
    if (say([form], text, world)) return text;
  }
  return undefined;
}

function pickForm(forms: readonly SentenceForm[], random: Random): SentenceForm {
  let at = random() * forms.reduce((sum, { weight }) => sum + weight, 0);
  const found = forms.find(({ weight }) => (at -= weight) < 0) ?? forms[0];
  if (found === undefined) throw new Error('internal: a grammar without forms');
  return found;
}

/** Sometimes a pronoun for the people of the last sentence, else one name, rarely two. */
function proposeSubject({ cast: { person = [] }, world, random, isPlain }: Scene): string {
  if (isPlain) return pick(person, random) ?? '';
  if (world.focus.length > 0 && random() < 0.3) return pronounOf(world.focus);
  return choose(person, random() < 0.15 ? 2 : 1, random).join(' and ');
}

/** Why a text is no story, or how many sentences and questions it has. */
type Parse =
  | { readonly story: Story; readonly reason?: undefined }
  | { readonly story?: undefined; readonly reason: string };

/**
 * Reads a story by the same forms: each sentence has one, and pronouns and verbs agree with the people that they
 * stand for. In its world everything said must also be possible where it stands, and each answer right;
 * `world: false` leaves that out.
 */
export function parseStory(text: string, { world: isChecked = true } = {}): Parse {
  const [events = '', ...questions] = text.split('\n');
  const world = new StoryWorld();
  const can = (forms: readonly SentenceForm[]) => (sentence: string) =>
    isChecked ? say(forms, sentence, world) : spell(forms, [sentence, world]);
  const sentences = events.split(/(?<=\.) /);
  const wrongEvent = sentences.find((sentence) => !can(EVENTS)(sentence));
  if (wrongEvent !== undefined) return { reason: `not possible here: "${wrongEvent}"` };
  if (questions.length === 0) return { reason: 'no question' };
  const wrong = questions.find((question) => !can(QUESTIONS)(question));
  if (wrong !== undefined) return { reason: `no question, or a wrong answer: "${wrong}"` };
  return { story: { events, questions: questions.map(splitQuestion) } };
}

/** Returns true if one of the forms can say this here; if so, it changes the world. */
function say(forms: readonly SentenceForm[], text: string, world: StoryWorld): boolean {
  return spell(forms, [text, world], (form, slots) => {
    const isPossible = form.holds(world, slots);
    if (isPossible) form.happens?.(world, slots);
    return isPossible;
  });
}

/**
 * Returns true if one of the forms has these words and its verb agrees. The people of its subject
 * are then those that a pronoun stands for.
 */
function spell(
  forms: readonly SentenceForm[],
  [text, world]: readonly [string, StoryWorld],
  accepts: (form: SentenceForm, slots: Slots) => boolean = () => true,
): boolean {
  for (const form of forms) {
    const slots = readSlots(form, text, world);
    if (slots === undefined || form.agrees?.(slots) === false || !accepts(form, slots)) continue;
    if (form.text.includes('{subject}')) world.focus = slots.people;
    return true;
  }
  return false;
}

const PATTERNS = new Map([...EVENTS, ...QUESTIONS].map((form) => [form, patternOf(form)]));

function patternOf({ text }: SentenceForm): RegExp {
  const name = NAMES.join('|');
  const words: Words = { ...STORY_WORDS, person: NAMES };
  const source = text
    .replaceAll(/[.?]/g, String.raw`\$&`)
    .replaceAll(/\{(\w+)\}/g, (_, slot: string) =>
      slot === 'subject'
        ? `(?<subject>He|She|They|(?:${name})(?: and (?:${name}))?)`
        : `(?<${slot}>${(words[slot] ?? []).join('|')})`,
    );
  return new RegExp(`^${source}$`);
}

function readSlots(form: SentenceForm, text: string, world: StoryWorld): Slots | undefined {
  const groups = PATTERNS.get(form)?.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const people = readPeople(groups['subject'], world);
  return people === undefined ? undefined : { words: groups, people };
}

/** The people that a subject means; undefined where a pronoun does not agree or one is named twice. */
function readPeople(subject: string | undefined, world: StoryWorld): readonly string[] | undefined {
  if (subject === undefined) return [];
  if (NAMES.includes(subject)) return [subject];
  const names = subject.split(' and ');
  if (names.length === 2) return names[0] === names[1] ? undefined : names;
  return world.focus.length > 0 && pronounOf(world.focus) === subject ? world.focus : undefined;
}
