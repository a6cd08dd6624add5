/** What only the account pages need of the one stylesheet. */
export const ACCOUNT_STYLES = `
.wide { place-content: start center; grid-template-columns: minmax(0, 46rem); }
.wide .field, .wide .buttons { max-width: 27rem; }
.wide .card > :last-child { margin-bottom: 0; }
.pages { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem; margin: 0 0 1rem; font-size: .9375rem; }
.pages a { padding: .5rem .75rem; border-radius: .6rem; color: inherit; font-weight: 550; text-decoration: none; }
.pages a:hover { color: var(--accent); }
.pages [aria-current] { background: var(--card); box-shadow: inset 0 0 0 1px var(--line); }
.pages form { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem .75rem; margin-left: auto; }
.button.small { flex: none; min-width: 0; min-height: 2.25rem; padding: .25rem .8rem; font-size: .875rem; }
.items { margin: 0 0 1.25rem; padding: 0; list-style: none; }
.item { display: flex; flex-wrap: wrap; align-items: start; justify-content: space-between; gap: .75rem 1rem; padding: 1rem 0; border-top: 1px solid var(--line); }
.item > div { flex: 1 1 16rem; min-width: 0; }
dl { display: grid; gap: .15rem; margin: 0; font-size: .9375rem; }
dl div { display: flex; flex-wrap: wrap; gap: 0 .5rem; }
dt { color: var(--quiet); }
dd { min-width: 0; margin: 0; }
.item p { margin: 0 0 .5rem; }
.badge { display: inline-block; padding: .05rem .5rem; border-radius: 1rem; background: var(--note-ground); color: var(--note); font-size: .8125rem; font-weight: 550; }
@media (max-width: 30rem) {
  .pages { margin: 0 -.5rem 1.5rem; padding: 0 0 1rem; border-bottom: 1px solid var(--line); }
  .pages a { padding: .5rem; }
  .pages form { margin-left: .5rem; }
  .pages [aria-current] { text-decoration: underline; box-shadow: none; }
}
`;
