import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { bracketMatching } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { weftColours, weftLanguage } from './weft-language.ts';

export interface EditorOptions {
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
