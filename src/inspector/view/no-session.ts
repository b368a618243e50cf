import { html } from 'lit-html';

/** The text in place of a view that runs a session, where there is none. */
export const NO_SESSION = html`<p class="message">Only a session runs: this is an executable.</p>`;
