import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import {
  bracketMatching,
  HighlightStyle,
  StreamLanguage,
  syntaxHighlighting,
} from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';

interface EditorOptions {
  readonly text: string;
  /** Ctrl or Command with Enter. */
  readonly onRun: () => void;
}

/** The program's editor. Tab indents; Escape, then Tab leaves it. */
export class ProgramEditor {
  readonly #view: EditorView;

  constructor(place: HTMLElement, { text, onRun }: EditorOptions) {
    // CodeMirror writes its styles into a page, which the policy forbids; a shadow root adopts them.
    const root = place.attachShadow({ mode: 'open' });
    const run = { key: 'Mod-Enter', run: () => (onRun(), true) };
    const extensions = [
      lineNumbers(),
      history(),
      drawSelection(),
      bracketMatching(),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ 'aria-label': 'Program' }),
      EditorView.theme({
        '&': { backgroundColor: 'var(--surface)', color: 'var(--ink)', fontSize: '14px' },
        '.cm-scroller': { fontFamily: 'var(--mono)', minHeight: '240px' },
        '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--muted)', border: '0' },
        '.cm-content': { caretColor: 'var(--ink)' },
        '.cm-cursor': { borderLeftColor: 'var(--ink)' },
      }),
      weftLanguage,
      weftColours,
      keymap.of([run, ...defaultKeymap, ...historyKeymap, indentWithTab]),
    ];
    this.#view = new EditorView({
      parent: root,
      root,
      state: EditorState.create({ doc: text, extensions }),
    });
  }

  get text(): string {
    return this.#view.state.doc.toString();
  }

  set text(text: string) {
    this.#view.dispatch({ changes: { from: 0, to: this.#view.state.doc.length, insert: text } });
  }
}

const KEYWORDS = new Set([
  'def',
  'private',
  'type',
  'let',
  'if',
  'else',
  'match',
  'fn',
  'metadata',
]);

/** Colours for the text of the language. */
const weftLanguage = StreamLanguage.define<null>({
  name: 'weft',
  startState: () => null,
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match('//')) {
      stream.skipToEnd();
      return 'comment';
    }
    if (stream.match(/^"(?:[^"\\]|\\.)*"/)) return 'string';
    if (stream.match(/^[%@](?:"[^"]*"|[\w.]+)/)) return 'variableName';
    if (stream.match(/^#?-?\d+(?:\.\d+)?(?:e[+-]?\d+)?\w*/)) return 'number';
    const word = stream.match(/^[A-Za-z_][\w.]*/);
    if (Array.isArray(word)) {
      const [name = ''] = word as readonly string[];
      if (KEYWORDS.has(name)) return 'keyword';
      return /^[A-Z]/.test(name) ? 'typeName' : null;
    }
    stream.next();
    return null;
  },
  languageData: { commentTokens: { line: '//' } },
});

const weftColours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: tags.keyword, color: 'var(--keyword)' },
    { tag: tags.typeName, color: 'var(--keyword)' },
    { tag: tags.string, color: 'var(--string)' },
    { tag: tags.number, color: 'var(--number)' },
    { tag: tags.variableName, color: 'var(--accent)' },
    { tag: tags.comment, color: 'var(--muted)' },
  ]),
);
