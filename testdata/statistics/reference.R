# edgeR's answers to the matrices in this folder: for NAME.csv, NAME.runs.csv and
# NAME.functions.csv. See README.md.
suppressMessages(library(edgeR))

for (name in c("demo", "rustc", "synthetic")) {
  table <- read.csv(paste0(name, ".csv"), row.names = 1, check.names = FALSE, comment.char = "",
                    quote = "")
  totals <- unlist(table["total", ])
  counts <- as.matrix(table[rownames(table) != "total", ])
  side <- factor(sub("[0-9]+$", "", colnames(counts)), levels = c("baseline", "candidate"))

  y <- DGEList(counts, lib.size = totals, group = side)
  y <- calcNormFactors(y, method = "TMM")
  design <- model.matrix(~side)
  # A trend of few functions is chance. And the default grid ends at a dispersion of 0.0016, above
  # what steady programs have.
  trend <- nrow(counts) >= 30
  y <- estimateDisp(y, design, trend.method = if (trend) "locfit" else "none",
                    grid.range = c(-12, 6), grid.length = 31)
  fit <- glmQLFit(y, design, abundance.trend = trend, robust = FALSE,
                  dispersion = if (trend) y$trended.dispersion else y$common.dispersion)
  test <- glmQLFTest(fit, coef = 2, poisson.bound = FALSE)

  write.csv(data.frame(run = colnames(counts), factor = y$samples$norm.factors),
            paste0(name, ".runs.csv"), row.names = FALSE, quote = FALSE)
  answers <- data.frame(
    `function` = rownames(counts),
    abundance = fit$AveLogCPM,
    dispersion = fit$dispersion,
    deviance = fit$deviance,
    df_residual = fit$df.residual.zeros,
    df_prior = fit$df.prior,
    quasi_prior = fit$var.prior,
    quasi_posterior = fit$var.post,
    f = test$table$F,
    df_total = test$df.total,
    p = test$table$PValue,
    check.names = FALSE)
  write.csv(format(answers, digits = 7, trim = TRUE), paste0(name, ".functions.csv"),
            row.names = FALSE, quote = FALSE)
}
