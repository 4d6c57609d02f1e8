# The service of `oslr serve --http` on port 8000; the page practice/web says how to run it.
FROM python:3.12-slim
COPY pyproject.toml settings.ini hatch_build.py README.md LICENSE /source/
COPY oslr_nb /source/oslr_nb
RUN pip install --no-cache-dir "/source[http,tables]" && rm -r /source && useradd --create-home oslr && install -d -o oslr /state
USER oslr
RUN oslr warm own.PairwiseLeastSquares
VOLUME /state
EXPOSE 8000
ENTRYPOINT ["oslr", "serve", "--http", "0.0.0.0:8000", "--state", "/state/served.npz"]
